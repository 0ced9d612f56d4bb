"""Other pages that list those which are rewritten or removed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from content.links import find_links
from content.rollups import rollup_line
from content.sections import Section
from db.sql import statements
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page, find_pages
from resolvers.pages.update import save
from resolvers.transactions.activity import record
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..rebuild.pages import Remade
from .history import erase_states
from .pages import EDIT_SUMMARY, is_left, remove
from .wanted import Wanted

FORGETTING = statements("forgetting")


async def relist(
    writer: Writer, above: Collection[UUID], pages: Sequence[Remade], with_children: Collection[UUID]
) -> None:
    """Lists that nobody else keeps: a line for a page that goes is taken out, one for a page that stays is as it is."""
    states = {remade.before.id: remade.after if is_left(remade.after, with_children) else None for remade in pages}
    lines = {f"{one.before.type}/{one.before.slug}": (one.before, states[one.before.id]) for one in pages}
    for page in (await find_pages(writer, above)).values():
        sections = tuple(replace(section, body=relisted(section, lines)) for section in page.sections)
        if sections != page.sections:
            drafts = [SectionDraft(section.body, section.slug) for section in sections]
            saved = await save(
                writer, page, replace(page, sections=outline.merged(page.type, page.sections, drafts)),
                edit_summary=EDIT_SUMMARY,
            )  # fmt: skip
            await record(writer, "page.rewritten", page.id, version=saved.version)


def relisted(section: Section, pages: Mapping[str, tuple[Page, Page | None]]) -> str:
    """Only lines that are as a rollup has them: what people wrote about a page is theirs."""
    kept: list[str] = []
    for line in section.body.split("\n"):
        found = find_links(line)
        before, after = pages.get(f"{found[0].type}/{found[0].slug}", (None, None)) if found else (None, None)
        if before is None or line != rollup_line(before.title, before.type, before.slug, before.summary):
            kept.append(line)
        elif after is not None:
            kept.append(rollup_line(after.title, after.type, after.slug, after.summary))
    return "\n".join(kept)


async def clear(writer: Writer, above: Mapping[UUID, Page], wanted: Wanted, done: Metrics) -> None:
    """Pages that list others, after that: what they said before is erased, and a topic made for its lists goes."""
    pages = await find_pages(writer, above)
    parents = {row["id"] for row in await writer.all(FORGETTING["find_with_children"], page_ids=list(pages))}
    made = {row["page_id"] for row in await writer.all(FORGETTING["find_made"], page_ids=list(pages))}
    for page in pages.values():
        if page.version == above[page.id].version:
            continue
        if page.id in made and not is_left(page, parents):
            await remove(writer, page, done)
        else:
            await erase_states(writer, page, wanted.since, done)
            done.add("pages_relisted")
