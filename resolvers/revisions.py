"""A page brought to its next state, with everything that follows from its content, in a fixed number of statements."""

from collections.abc import Sequence
from dataclasses import replace

from db.sql import statements

from .changes import ChangeKind
from .creating import (
    INSERT_REVISION,
    NewPage,
    aliases,
    content_row,
    create,
    keep_slugs,
    revision_row,
    write_aliases,
    write_sections,
)
from .hubness import dependants, refresh_hubness
from .link_targets import resolve, write_targets
from .long_texts import read_through
from .page_names import Names, check_number, find_names, write_names
from .page_texts import PageText, read_sections
from .records import Page, Saved
from .search.index import Findable, restate_search, write_search
from .states import compact
from .writer import Writer

PAGES = statements("pages")
SECTIONS = statements("sections")


async def save(
    writer: Writer,
    before: Page | None,
    after: Page,
    *,
    text: PageText | None = None,
    edit_summary: str | None = None,
    aliases: Sequence[str] = (),
    alias_source: str = "manual",
    former_slugs: Sequence[str] = (),
) -> Saved:
    """Write what differs. A change of content makes a version; a compile stamp alone does not count as a change.

    `text` is what the page will say, if it was read already.
    """
    revised = before is None or after.content != before.content
    if revised and (text is None or text.body != after.body):
        text = await read_sections(after.sections)
    if before is None:
        assert text is not None
        (created,) = await create(
            writer, NewPage(after, text, aliases, alias_source, former_slugs, edit_summary=edit_summary)
        )
        return created
    after = replace(after, version=after.version + revised)
    if after != before:
        await write_row(writer, before, after)
    texts = after.sections != before.sections
    dropped = text is not None and texts and await write_text(writer, after, text)
    added = await name(writer, after, aliases, alias_source)
    added += len(await keep_slugs(writer, [(after, slug) for slug in former_slugs]))
    restated = after.status != before.status
    renamed = added or restated or (after.slug, after.title) != (before.slug, before.title)
    names = await (write_names if renamed else find_names)(writer, after)
    check_number(names, "aliases")
    if revised:
        await write_revision(writer, after, names, edit_summary)
    if revised or added:
        await write_search(writer, Findable(after, names, text.words if text else None))
    elif restated:
        await restate_search(writer, after)
    if renamed or texts:
        await resolve(writer, names if renamed else Names(), [after.id] if texts else [], dropped=dropped)
    if restated:
        if after.status == "active":
            await writer.run(PAGES["drop_merged"], page_id=after.id)
        await refresh_hubness(writer, await dependants(writer, after.id))
    if added or after != before:
        writer.changes.add(kind_of_change(before, after), after.id, after.version)
    return Saved(after.id, after.version, changed=bool(revised or added or restated))


def kind_of_change(before: Page, after: Page) -> ChangeKind:
    """What became of a page, as those who follow it are told."""
    if after.status != before.status:
        return ChangeKind.ARCHIVED if after.status == "archived" else ChangeKind.RESTORED
    renamed = (after.slug, after.title) != (before.slug, before.title)
    return ChangeKind.RENAMED if renamed else ChangeKind.UPDATED


async def write_row(writer: Writer, before: Page, after: Page) -> None:
    """The page itself; the slug that it had goes on resolving to it."""
    await writer.run(PAGES["update_page"], **content_row(after, after.body), page_id=after.id)
    if after.slug != before.slug:
        await writer.run(PAGES["reclaim_slug"], type=after.type, slug=after.slug)
        await writer.run(PAGES["keep_slug"], type=after.type, slug=before.slug, page_id=after.id)


async def write_text(writer: Writer, page: Page, text: PageText) -> bool:
    """The sections, and what their links point at; true when a link went out of the text."""
    slugs = [section.slug for section in page.sections]
    if await writer.run(SECTIONS["drop_sections"], page_id=page.id, slugs=slugs):
        await refresh_hubness(writer, [page.id])
    await write_sections(writer, [page])
    return await write_targets(writer, page.id, text.targets)


async def name(writer: Writer, page: Page, names: Sequence[str], source: str) -> int:
    """Let the page answer to its title and to these names; how many are new."""
    called = await read_through(sum(map(len, names)), aliases, names, source)
    return await write_aliases(writer, {page.id: called | aliases([page.title], "compiler")})


async def write_revision(writer: Writer, page: Page, names: Names, edit_summary: str | None) -> None:
    """The state as it is now, for ever."""
    kept = await compact(writer, page, names.aliases)
    await writer.run(INSERT_REVISION, **revision_row(writer, page, edit_summary), **kept)
