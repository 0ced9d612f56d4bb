"""Pages that rest on a forgotten source no more, and whatever lists them, in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from content.markdown.links import find_links, page_link, rollup_line, title_link
from content.markdown.sections import Section
from content.search.words import words
from db.connection import Row
from db.sql import statements
from resolvers.links.targets import resolve
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.names import Names, free_slug, renew_names, title_slug
from resolvers.model.outline import Outline
from resolvers.model.pages import Page, find_pages
from resolvers.pages.renaming import BEGINNING, TEXTS_PER_BATCH, NewName, new_name, rename_section_links
from resolvers.pages.update import save
from resolvers.search.index import Findable, write_search
from resolvers.transactions.writer import Writer, record

from ..aggregate.aggregation_pass import list_anew
from ..aggregate.stored import find_lists
from ..metrics import Metrics
from ..rebuild.pages import Remade
from .history import erase_states
from .pages import EDIT_SUMMARY, is_left, remove, store, unfound
from .wanted import ForgetRequest

FORGETTING = statements("sources/forgetting")


async def relist(
    writer: Writer, above: Collection[UUID], pages: Sequence[Remade], with_children: Collection[UUID]
) -> None:
    """Rewrite lists that nobody else maintains: take a page that goes out, and show one that stays as it is now."""
    states = {remade.before.id: remade.after if is_left(remade.after, with_children) else None for remade in pages}
    lines = {f"{one.before.type}/{one.before.slug}": (one.before, states[one.before.id]) for one in pages}
    for page in (await find_pages(writer, above)).values():
        sections = tuple(replace(section, body=rewrite_list(section, lines)) for section in page.sections)
        if sections != page.sections:
            drafts = [SectionDraft(section.body, section.slug) for section in sections]
            saved = await save(
                writer, page, replace(page, sections=outline.merge_drafts(page.type, page.sections, drafts)),
                edit_summary=EDIT_SUMMARY,
            )  # fmt: skip
            await record(writer, "page.rewritten", page.id, version=saved.version)


def rewrite_list(section: Section, pages: Mapping[str, tuple[Page, Page | None]]) -> str:
    """Rewrite only lines that are as a rollup has them: what people wrote about a page is theirs."""
    kept: list[str] = []
    for line in section.body.split("\n"):
        found = find_links(line)
        before, after = pages.get(f"{found[0].type}/{found[0].slug}", (None, None)) if found else (None, None)
        if before is None or line != rollup_line(before.title, before.type, before.slug, before.summary):
            kept.append(line)
        elif after is not None:
            kept.append(rollup_line(after.title, after.type, after.slug, after.summary))
    return "\n".join(kept)


async def clear(writer: Writer, above: Mapping[UUID, Page], wanted: ForgetRequest, done: Metrics) -> None:
    """Erase what pages that list others said before, and remove a topic made for its lists that says nothing now."""
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


TARGETS = statements("links/targets")
RESPELLED = "The name of a page was forgotten"


async def retitle(writer: Writer, remade: Remade) -> Remade:
    """Return the page under another name that it has, where nothing it still rests on says a word of its title.

    A title that a person gave stays. One without any other name says of what type the page is.
    """
    page, lost = remade.after, remade.gone_words
    if lost.isdisjoint(words(page.title)) or not await writer.value(FORGETTING["is_title_compiled"], page_id=page.id):
        return remade
    names = await writer.all(FORGETTING["find_names_of_page"], page_id=page.id)
    title = other_name(names, lost) or f"Untitled {page.type}"
    slug = page.slug
    if not lost.isdisjoint(words(slug.replace("-", " "))):
        slug = await free_slug(writer, page.type, title_slug(title))
    return replace(remade, after=replace(page, title=title, slug=slug))


def other_name(rows: list[Row], lost: frozenset[str]) -> str | None:
    """Return the longest name that holds no lost word."""
    names = [row["name"] for row in rows if lost.isdisjoint(words(row["name"]))]
    return max(names, key=lambda name: (len(name), name), default=None)


async def respell(writer: Writer, remade: Remade, wanted: ForgetRequest, done: Metrics) -> None:
    """Respell links that say the former name; that means the page no more."""
    before, after = remade.before, remade.after
    if before.title == after.title:
        return
    name, reached = await new_name(writer, before.slug, before.title, after), BEGINNING
    alias = name.old_alias
    while rows := await writer.all(
        TARGETS["find_linking"],
        page_id=after.id,
        slug=before.slug,
        alias=alias,
        reached_id=reached,
        most=TEXTS_PER_BATCH,
    ):
        targets = {row["id"]: frozenset(row["targets"]) for row in rows}
        for page in (await find_pages(writer, targets.keys())).values():
            await respell_page(writer, page, targets[page.id], name, title_links(before, after), wanted, done)
        reached = rows[-1]["id"]
    if before.slug != after.slug:
        await writer.run(FORGETTING["drop_old_slugs"], page_id=after.id, slugs=[before.slug])
    (current,) = (await find_pages(writer, [after.id])).values()
    names = await renew_names(writer, current)
    await write_search(writer, Findable(current, names))
    await resolve(writer, names | Names(frozenset({before.slug}), frozenset({alias})))
    done.add("pages_retitled")


async def respell_page(
    writer: Writer,
    page: Page,
    targets: frozenset[str],
    name: NewName,
    labels: Mapping[str, str],
    wanted: ForgetRequest,
    done: Metrics,
) -> None:
    sections = rename_section_links(relabel(page.sections, labels), targets, name)
    if sections == page.sections:
        return
    after = replace(page, sections=sections)
    saved = await save(writer, page, after, edit_summary=RESPELLED)
    await record(writer, "page.rewritten", page.id, version=saved.version)
    await erase_states(writer, replace(after, version=saved.version), wanted.since, done)


def title_links(before: Page, after: Page) -> dict[str, str]:
    """Return links that show the title, as they were written and as they are to be."""
    old, new = (before.type, before.slug), (after.type, after.slug)
    return {
        title_link(before.title, *old): title_link(after.title, *new),
        page_link(before.title, *old): page_link(after.title, *new),
    }


def relabel(sections: Outline, labels: Mapping[str, str]) -> Outline:
    texts = {section.slug: section.body for section in sections}
    for old, new in labels.items():
        texts = {slug: text.replace(old, new) for slug, text in texts.items()}
    return tuple(replace(section, body=texts[section.slug]) for section in sections)


async def rewrite_pages(
    writer: Writer, page_ids: Sequence[UUID], pages: Sequence[Remade], wanted: ForgetRequest, done: Metrics
) -> None:
    """Store the pages, or remove them. The lists they are in are read first: a page that goes takes that with it."""
    children = {row["id"] for row in await writer.all(FORGETTING["find_with_children"], page_ids=page_ids)}
    lists = await find_lists(writer, page_ids)
    showing = await writer.all(FORGETTING["find_showing"], page_ids=page_ids)
    above = await find_pages(writer, {row["page_id"] for row in showing} | {page_id for page_id, _ in lists})
    pages = [await retitle(writer, remade) if is_left(remade.after, children) else remade for remade in pages]
    for remade in pages:
        if is_left(remade.after, children):
            await store(writer, remade, wanted, done)
        else:
            await remove(writer, remade.before, done)
    await unfound(writer, page_ids, wanted)
    left = [remade for remade in pages if is_left(remade.after, children)]
    await list_anew(writer, [remade.after for remade in left], done, lists)
    await relist(writer, above, pages, children)
    for remade in left:
        await respell(writer, remade, wanted, done)
    await clear(writer, above, wanted, done)
