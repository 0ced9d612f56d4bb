"""Making pages, bringing them up to date, putting them away."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements

from . import checks, outline
from .activity import record
from .drafts import PageDraft, SectionDraft, checked
from .errors import Conflict
from .hierarchy import place
from .hubness import dependants, refresh_all_hubness, refresh_hubness
from .link_targets import forget_page, resolve, resolve_all
from .outline import Outline
from .page_slugs import check_free, find_slug, free_slug, title_slug
from .permissions import Action
from .records import Page, Saved
from .revisions import save
from .unset import UNSET, Given
from .writer import Writer
from .writing import check_version, writing, writing_page

__all__ = [
    "UNSET", "PageDraft", "Saved", "SectionDraft", "archive_page", "archive_scope", "create_page", "delete_page",
    "unarchive_page", "update_page", "upsert_page",
]  # fmt: skip

PAGES = statements("pages")
SEARCH = statements("search_index")


async def create_page(database: Database, scope: Scope, draft: PageDraft) -> Saved:
    """A new page. A slug made from the title gets a number when it is taken; a given one must be free."""
    draft = checked(draft)
    async with writing(database, scope) as writer:
        if draft.slug:
            await check_free(writer, draft.type, draft.slug)
        slug = draft.slug or await free_slug(writer, draft.type, title_slug(draft.title))
        return await store(writer, None, drafted(draft, slug), draft, "page.created")


async def upsert_page(
    database: Database,
    scope: Scope,
    draft: PageDraft,
    *,
    mark_compiled: bool = False,
    expected_version: int | None = None,
) -> Saved:
    """The page of this type and slug as the draft wants it, made if need be; what the draft leaves out stays."""
    draft = checked(draft)
    slug = draft.slug or title_slug(draft.title)
    async with writing(database, scope) as writer:
        before = await find_slug(writer, draft.type, slug)
        if before:
            check_version(before, expected_version)
        elif expected_version is not None:
            raise Conflict(f'There is no {draft.type} "{slug}" any more that you could have changed.')
        after = brought_up(before, draft) if before else drafted(draft, slug)
        if mark_compiled:
            after = replace(after, status=draft.status or "active", last_compiled_at=writer.now)
        action = ("page.compiled" if mark_compiled else "page.updated") if before else "page.created"
        return await store(writer, before, after, draft, action)


async def update_page(
    database: Database,
    scope: Scope,
    page_id: UUID,
    *,
    title: Given[str] = UNSET,
    summary: Given[str | None] = UNSET,
    body: Given[str] = UNSET,
    tags: Given[list[str]] = UNSET,
    slug: Given[str] = UNSET,
    metadata: Given[dict[str, Any]] = UNSET,
    expected_version: int | None = None,
    edit_summary: str | None = None,
) -> Saved:
    """Change what is given. A new slug keeps the old one resolving; a new title keeps the old one as an alias."""
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        after = replace(
            page,
            title=page.title if title is UNSET else checks.title(title),
            summary=page.summary if summary is UNSET else checks.optional(summary, "summary"),
            sections=page.sections if body is UNSET else outline.from_body(body, page.sections),
            tags=page.tags if tags is UNSET else checks.tags(tags),
            slug=page.slug if slug is UNSET else checks.slug(slug),
            metadata=page.metadata if metadata is UNSET else checks.metadata(metadata),
        )
        if after.slug != page.slug:
            await check_free(writer, page.type, after.slug, but=page)
        saved = await save(writer, page, after, edit_summary=checks.optional(edit_summary, "editSummary"))
        if saved.changed:
            await record(writer, "page.updated", page.id, version=saved.version)
        return saved


async def archive_page(database: Database, scope: Scope, page_id: UUID) -> Saved:
    """Out of sight, with everything it owns."""
    return await restate(database, scope, page_id, "archived", "page.archived")


async def unarchive_page(database: Database, scope: Scope, page_id: UUID) -> Saved:
    """In sight again."""
    return await restate(database, scope, page_id, "active", "page.unarchived")


async def restate(database: Database, scope: Scope, page_id: UUID, status: str, action: str) -> Saved:
    async with writing_page(database, scope, page_id) as (writer, page):
        saved = await save(writer, page, replace(page, status=status))
        if saved.changed:
            await record(writer, action, page.id)
        return saved


async def archive_scope(database: Database, scope: Scope) -> int:
    """Every page of the wiki out of sight; how many that were."""
    async with writing(database, scope, Action.MANAGE) as writer:
        archived = await writer.all(PAGES["archive_all"])
        if archived:
            await writer.run(SEARCH["archive_search"])
            await writer.run(SEARCH["archive_names"])
            await resolve_all(writer)
            await refresh_all_hubness(writer)
            await record(writer, "wiki.archived", pages=len(archived))
        return len(archived)


async def delete_page(database: Database, scope: Scope, page_id: UUID) -> Saved:
    """A page and all that belongs to it, for good. Its children become parentless, links to it are broken."""
    async with writing_page(database, scope, page_id, Action.MANAGE) as (writer, page):
        counting = await dependants(writer, page.id)
        for release in ("orphan_children", "release_sections", "release_mentions"):
            await writer.run(PAGES[release], page_id=page.id)
        names = await forget_page(writer, page.id)
        await writer.run(PAGES["delete_page"], page_id=page.id)
        await resolve(writer, names)
        await refresh_hubness(writer, counting)
        await record(writer, "page.deleted", page.id, type=page.type, slug=page.slug, title=page.title)
        return Saved(page.id, page.version)


async def store(writer: Writer, before: Page | None, after: Page, draft: PageDraft, action: str) -> Saved:
    """The page with all that the draft says of it."""
    saved = await save(
        writer,
        before,
        after,
        edit_summary=draft.edit_summary,
        aliases=draft.aliases,
        alias_source=draft.alias_source,
    )
    placed = draft.parent_id is not None and await place(writer, after, draft.parent_id)
    if saved.changed or placed or after != before:
        await record(writer, action, saved.page_id, version=saved.version)
    return replace(saved, changed=saved.changed or placed)


def drafted(draft: PageDraft, slug: str) -> Page:
    """The page that a draft describes, where there is none yet."""
    sections = drafted_sections(draft, ())
    return Page(
        id=new_id(),
        type=draft.type,
        slug=slug,
        title=draft.title,
        summary=draft.summary,
        sections=outline.templated(draft.type) if sections is None else sections,
        tags=tuple(draft.tags or ()),
        metadata=draft.metadata or {},
        status=draft.status or "active",
    )


def brought_up(page: Page, draft: PageDraft) -> Page:
    """The page that there is, with what the draft gives."""
    sections = drafted_sections(draft, page.sections)
    return replace(
        page,
        title=draft.title,
        summary=page.summary if draft.summary is None else draft.summary,
        sections=page.sections if sections is None else sections,
        tags=page.tags if draft.tags is None else tuple(draft.tags),
        metadata=page.metadata if draft.metadata is None else draft.metadata,
        status=draft.status or page.status,
    )


def drafted_sections(draft: PageDraft, current: Outline) -> Outline | None:
    """What the draft makes of the sections; none when it does not speak of them."""
    if draft.body is not None:
        return outline.from_body(draft.body, current)
    if draft.sections is not None:
        return outline.merged(draft.type, current, draft.sections)
    return None
