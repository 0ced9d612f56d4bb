"""Titles that a compile gave, and a forgotten source alone had the words for: such a page is called otherwise."""

from collections.abc import Mapping
from dataclasses import replace

from content.links import page_link, title_link
from content.words import words
from db.database import Row
from db.sql import statements
from resolvers.links.targets import resolve
from resolvers.model.names import Names, free_slug, renew_names, title_slug
from resolvers.model.outline import Outline
from resolvers.model.pages import Page, find_pages
from resolvers.pages.renaming import AT_ONCE, BEGINNING, NewName, new_name, renamed
from resolvers.pages.update import save
from resolvers.search.index import Findable, write_search
from resolvers.transactions.activity import record
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..rebuild.pages import Remade
from .history import erase_states
from .wanted import Wanted

FORGETTING = statements("forgetting")
TARGETS = statements("link_targets")
RESPELLED = "The name of a page was forgotten"


async def retitled(writer: Writer, remade: Remade) -> Remade:
    """The page under another name that it has, where nothing it still rests on says a word of its title.

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
    """The one that says most."""
    names = [row["name"] for row in rows if lost.isdisjoint(words(row["name"]))]
    return max(names, key=lambda name: (len(name), name), default=None)


async def respell(writer: Writer, remade: Remade, wanted: Wanted, done: Metrics) -> None:
    """Links that say the former name say the new one; the former one means the page no more."""
    before, after = remade.before, remade.after
    if before.title == after.title:
        return
    name, reached = await new_name(writer, before.slug, before.title, after), BEGINNING
    alias = name.old_alias
    while rows := await writer.all(
        TARGETS["find_linking"], page_id=after.id, slug=before.slug, alias=alias, reached_id=reached, most=AT_ONCE
    ):
        targets = {row["id"]: frozenset(row["targets"]) for row in rows}
        for page in (await find_pages(writer, targets.keys())).values():
            await respell_page(writer, page, targets[page.id], name, shown(before, after), wanted, done)
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
    wanted: Wanted,
    done: Metrics,
) -> None:
    sections = renamed(relabelled(page.sections, labels), targets, name)
    if sections == page.sections:
        return
    after = replace(page, sections=sections)
    saved = await save(writer, page, after, edit_summary=RESPELLED)
    await record(writer, "page.rewritten", page.id, version=saved.version)
    await erase_states(writer, replace(after, version=saved.version), wanted.since, done)


def shown(before: Page, after: Page) -> dict[str, str]:
    """A link that shows the title, as it was written and as it is to be."""
    old, new = (before.type, before.slug), (after.type, after.slug)
    return {
        title_link(before.title, *old): title_link(after.title, *new),
        page_link(before.title, *old): page_link(after.title, *new),
    }


def relabelled(sections: Outline, labels: Mapping[str, str]) -> Outline:
    texts = {section.slug: section.body for section in sections}
    for old, new in labels.items():
        texts = {slug: text.replace(old, new) for slug, text in texts.items()}
    return tuple(replace(section, body=texts[section.slug]) for section in sections)
