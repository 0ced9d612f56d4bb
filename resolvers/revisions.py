"""A page brought to its next state, with everything that follows from its content, in a fixed number of statements."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from content.names import normalise
from db.ids import new_id
from db.sql import inserting, statements
from db.tables import pages, revisions

from .changes import ChangeKind
from .hubness import dependants, refresh_hubness
from .link_targets import resolve, write_targets
from .long_texts import read_through
from .page_names import Names, check_number, find_names, write_names
from .page_texts import PageText, read_sections
from .records import Page, Saved
from .search.index import restate_search, write_search
from .states import compact
from .writer import Writer

PAGES = statements("pages")
SECTIONS = statements("sections")
ALIASES = statements("aliases")
CONTENT = ("slug", "title", "summary", "body_md", "tags", "metadata", "status", "version", "last_compiled_at")
INSERT_PAGE = inserting(pages, "tenant_id", "owner_id", "id", "type", *CONTENT, "created_at", "updated_at")
INSERT_REVISION = inserting(
    revisions, "tenant_id", "owner_id", "id", "page_id", "version", "title", "summary", "body_md", "tags",
    "edit_summary", "author_kind", "author_id", "created_at", "base_version", "base_starts", "base_lengths",
    "base_texts", "slug", "metadata", "aliases", "facts_version",
)  # fmt: skip


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
    after = replace(after, version=after.version + revised)
    if before is None or after != before:
        await write_row(writer, before, after)
    texts = before is None or after.sections != before.sections
    if revised and (text is None or text.body != after.body):
        text = await read_sections(after.sections)
    dropped = text is not None and texts and await write_text(writer, before, after, text)
    added = await name(writer, after, aliases, alias_source) + await keep_slugs(writer, after, former_slugs)
    restated = before is not None and after.status != before.status
    renamed = added or restated or before is None or (after.slug, after.title) != (before.slug, before.title)
    names = await (write_names if renamed else find_names)(writer, after)
    check_number(names, "aliases")
    if revised:
        await write_revision(writer, before, after, names, edit_summary)
    if revised or added:
        await write_search(writer, after, names, text.words if text else None)
    elif restated:
        await restate_search(writer, after)
    if renamed or texts:
        await resolve(writer, names if renamed else Names(), after.id if texts else None, dropped=dropped)
    if restated:
        if after.status == "active":
            await writer.run(PAGES["drop_merged"], page_id=after.id)
        await refresh_hubness(writer, await dependants(writer, after.id))
    if added or after != before:
        writer.changes.add(kind_of_change(before, after), after.id, after.version)
    return Saved(after.id, after.version, created=before is None, changed=bool(revised or added or restated))


def kind_of_change(before: Page | None, after: Page) -> ChangeKind:
    """What became of a page, as those who follow it are told."""
    if before is None:
        return ChangeKind.CREATED
    if after.status != before.status:
        return ChangeKind.ARCHIVED if after.status == "archived" else ChangeKind.RESTORED
    renamed = (after.slug, after.title) != (before.slug, before.title)
    return ChangeKind.RENAMED if renamed else ChangeKind.UPDATED


async def write_row(writer: Writer, before: Page | None, after: Page) -> None:
    """The page itself; the slug that it had goes on resolving to it."""
    if before is None:
        await writer.run(INSERT_PAGE, **row(after), id=after.id, created_at=writer.now, updated_at=writer.now)
        return
    await writer.run(PAGES["update_page"], **row(after), page_id=after.id)
    if after.slug != before.slug:
        await writer.run(PAGES["reclaim_slug"], type=after.type, slug=after.slug)
        await writer.run(PAGES["keep_slug"], type=after.type, slug=before.slug, page_id=after.id)


def row(page: Page) -> dict[str, Any]:
    return {
        "type": page.type,
        "slug": page.slug,
        "title": page.title,
        "summary": page.summary,
        "body_md": page.body,
        "tags": page.tags,
        "metadata": page.metadata or {},
        "status": page.status,
        "version": page.version,
        "last_compiled_at": page.last_compiled_at,
    }


async def write_text(writer: Writer, before: Page | None, after: Page, text: PageText) -> bool:
    """The sections, and what their links point at; true when a link went out of the text."""
    slugs = [section.slug for section in after.sections]
    if before and await writer.run(SECTIONS["drop_sections"], page_id=after.id, slugs=slugs):
        await refresh_hubness(writer, [after.id])
    if slugs:
        await writer.run(
            SECTIONS["write_sections"],
            page_id=after.id,
            ids=[new_id() for _ in slugs],
            slugs=slugs,
            headings=[section.heading for section in after.sections],
            bodies=[section.body for section in after.sections],
        )
    return await write_targets(writer, after.id, text.targets)


async def name(writer: Writer, page: Page, aliases: Sequence[str], source: str) -> int:
    """Let the page answer to its title and to these names; how many are new."""
    added = await write_aliases(writer, page, [page.title], "compiler")
    if aliases:
        added += await write_aliases(writer, page, aliases, source)
    return added


async def keep_slugs(writer: Writer, page: Page, slugs: Sequence[str]) -> int:
    """Let these slugs resolve to the page too, but for those that a page has or had; how many are new."""
    if not slugs:
        return 0
    return await writer.run(PAGES["keep_slugs"], type=page.type, slugs=list(slugs), page_id=page.id)


async def write_aliases(writer: Writer, page: Page, names: Sequence[str], source: str) -> int:
    """How many of these names the page did not answer to before."""
    named = await read_through(sum(map(len, names)), normalised, names)
    return await writer.run(
        ALIASES["write_aliases"],
        page_id=page.id,
        ids=[new_id() for _ in named],
        aliases=list(named),
        names=list(named.values()),
        source=source,
    )


def normalised(names: Sequence[str]) -> dict[str, str]:
    """The first name of each alias."""
    return {alias: name for name in reversed(names) if (alias := normalise(name))}


async def write_revision(
    writer: Writer, before: Page | None, page: Page, names: Names, edit_summary: str | None
) -> None:
    """The state as it is now, for ever."""
    actor = writer.scope.actor
    await writer.run(
        INSERT_REVISION,
        id=new_id(),
        page_id=page.id,
        version=page.version,
        title=page.title,
        summary=page.summary,
        **await compact(writer, before, page, names.aliases),
        tags=page.tags,
        edit_summary=edit_summary,
        author_kind=actor.kind.value,
        author_id=actor.id,
        created_at=writer.now,
    )
