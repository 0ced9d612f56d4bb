"""Storing pages that no longer cite a forgotten source, and updating the pages that list them, in one transaction."""

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
from resolvers.model.names import Names, free_slug, rewrite_names, title_slug
from resolvers.model.outline import Outline
from resolvers.model.pages import Page, find_pages
from resolvers.pages.renaming import BEGINNING, TEXTS_PER_BATCH, NewName, new_name, rename_section_links
from resolvers.pages.update import save
from resolvers.search.index import SearchEntry, index_pages
from resolvers.transactions.writer import Writer, record

from ..aggregate.aggregation_pass import update_lists
from ..aggregate.stored import find_lists
from ..metrics import Metrics
from ..rebuild.pages import RebuiltPage
from .history import erase_states
from .pages import EDIT_SUMMARY, drop_evidence, is_left, remove, store
from .request import ForgetRequest

FORGETTING = statements("sources/forgetting")


async def relist(
    writer: Writer, above: Collection[UUID], pages: Sequence[RebuiltPage], with_children: Collection[UUID]
) -> None:
    """Update the lines for these pages in lists that the aggregation pass does not maintain.

    The line of a deleted page is removed. The line of any other page shows its new title and summary.
    """
    lines: dict[str, tuple[Page, Page | None]] = {}
    for rebuilt in pages:
        after = rebuilt.after if is_left(rebuilt.after, with_children) else None
        lines[f"{rebuilt.before.type}/{rebuilt.before.slug}"] = rebuilt.before, after
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
    """Return the text of a section with updated lines. Only lines in the exact form of rollups change; all others are
    people's."""
    lines: list[str] = []
    for line in section.body.split("\n"):
        found = find_links(line)
        before, after = pages.get(f"{found[0].type}/{found[0].slug}", (None, None)) if found else (None, None)
        if before is None or line != rollup_line(before.title, before.type, before.slug, before.summary):
            lines.append(line)
        elif after is not None:
            lines.append(rollup_line(after.title, after.type, after.slug, after.summary))
    return "\n".join(lines)


async def clean_parents(writer: Writer, above: Mapping[UUID, Page], request: ForgetRequest, done: Metrics) -> None:
    """Erase the revisions of listing pages that have changed, and delete topics of the aggregation that are empty now.

    `above` are the pages as they were before.
    """
    pages = await find_pages(writer, above)
    parents = {row["id"] for row in await writer.all(FORGETTING["find_with_children"], page_ids=list(pages))}
    aggregated = {row["page_id"] for row in await writer.all(FORGETTING["find_made"], page_ids=list(pages))}
    for page in pages.values():
        if page.version == above[page.id].version:
            continue
        if page.id in aggregated and not is_left(page, parents):
            await remove(writer, page, done)
        else:
            await erase_states(writer, page, request.since, done)
            done.add("pages_relisted")


TARGETS = statements("links/targets")
RESPELLED = "The name of a page was forgotten"


async def retitle(writer: Writer, rebuilt: RebuiltPage) -> RebuiltPage:
    """Return the page with another of its names as title, if its title has a lost word and the compiler gave it.

    A page without another name is called `Untitled` and its type.
    """
    page, lost = rebuilt.after, rebuilt.lost_words
    if lost.isdisjoint(words(page.title)) or not await writer.value(FORGETTING["is_title_compiled"], page_id=page.id):
        return rebuilt
    names = await writer.all(FORGETTING["find_names_of_page"], page_id=page.id)
    title = other_name(names, lost) or f"Untitled {page.type}"
    slug = page.slug
    if not lost.isdisjoint(words(slug.replace("-", " "))):
        slug = await free_slug(writer, page.type, title_slug(title))
    return replace(rebuilt, after=replace(page, title=title, slug=slug))


def other_name(rows: list[Row], lost: frozenset[str]) -> str | None:
    """Return the longest name without a lost word."""
    names = [row["name"] for row in rows if lost.isdisjoint(words(row["name"]))]
    return max(names, key=lambda name: (len(name), name), default=None)


async def respell(writer: Writer, rebuilt: RebuiltPage, request: ForgetRequest, done: Metrics) -> None:
    """Replace the former title of the page in the links of other pages, and drop its former name and slug."""
    before, after = rebuilt.before, rebuilt.after
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
        limit=TEXTS_PER_BATCH,
    ):
        targets = {row["id"]: frozenset(row["targets"]) for row in rows}
        for page in (await find_pages(writer, targets.keys())).values():
            await respell_page(writer, page, targets[page.id], name, title_links(before, after), request, done)
        reached = rows[-1]["id"]
    if before.slug != after.slug:
        await writer.run(FORGETTING["drop_old_slugs"], page_id=after.id, slugs=[before.slug])
    (current,) = (await find_pages(writer, [after.id])).values()
    names = await rewrite_names(writer, current)
    await index_pages(writer, SearchEntry(current, names))
    await resolve(writer, names | Names(frozenset({before.slug}), frozenset({alias})))
    done.add("pages_retitled")


async def respell_page(
    writer: Writer,
    page: Page,
    targets: frozenset[str],
    name: NewName,
    labels: Mapping[str, str],
    request: ForgetRequest,
    done: Metrics,
) -> None:
    """Replace links to a renamed page on one other page, and erase the revisions of that page."""
    sections = rename_section_links(relabel(page.sections, labels), targets, name)
    if sections == page.sections:
        return
    after = replace(page, sections=sections)
    saved = await save(writer, page, after, edit_summary=RESPELLED)
    await record(writer, "page.rewritten", page.id, version=saved.version)
    await erase_states(writer, replace(after, version=saved.version), request.since, done)


def title_links(before: Page, after: Page) -> dict[str, str]:
    """Return the links to the page that show its former title, with the links that replace them."""
    old, new = (before.type, before.slug), (after.type, after.slug)
    return {
        title_link(before.title, *old): title_link(after.title, *new),
        page_link(before.title, *old): page_link(after.title, *new),
    }


def relabel(sections: Outline, labels: Mapping[str, str]) -> Outline:
    """Replace links in the text of sections by others."""
    texts = {section.slug: section.body for section in sections}
    for old, new in labels.items():
        texts = {slug: text.replace(old, new) for slug, text in texts.items()}
    return tuple(replace(section, body=texts[section.slug]) for section in sections)


async def rewrite_pages(
    writer: Writer, page_ids: Sequence[UUID], pages: Sequence[RebuiltPage], request: ForgetRequest, done: Metrics
) -> None:
    """Store or delete the rebuilt pages, and update the pages that list or link them.

    The lists that contain them are read first, because a deleted page loses its placements.
    """
    children = {row["id"] for row in await writer.all(FORGETTING["find_with_children"], page_ids=page_ids)}
    lists = await find_lists(writer, page_ids)
    showing = await writer.all(FORGETTING["find_showing"], page_ids=page_ids)
    above = await find_pages(writer, {row["page_id"] for row in showing} | {page_id for page_id, _ in lists})
    pages = [await retitle(writer, rebuilt) if is_left(rebuilt.after, children) else rebuilt for rebuilt in pages]
    for rebuilt in pages:
        if is_left(rebuilt.after, children):
            await store(writer, rebuilt, request, done)
        else:
            await remove(writer, rebuilt.before, done)
    await drop_evidence(writer, page_ids, request)
    left = [rebuilt for rebuilt in pages if is_left(rebuilt.after, children)]
    await update_lists(writer, [rebuilt.after for rebuilt in left], done, lists)
    await relist(writer, above, pages, children)
    for rebuilt in left:
        await respell(writer, rebuilt, request, done)
    await clean_parents(writer, above, request, done)
