"""Making pages, bringing them up to date, putting them away."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements

from . import checks, outline
from .activity import record, record_each
from .changes import ChangeKind
from .creating import NewPage, create
from .drafts import PageDraft, SectionDraft, checked
from .errors import BadInput, Conflict
from .hierarchy import place
from .hubness import dependants, refresh_all_hubness, refresh_hubness
from .link_targets import forget_page, resolve, resolve_all
from .long_texts import read_through
from .outline import Outline
from .page_slugs import check_free, find_slug, free_slug, title_slug
from .page_texts import PageText, read_body, read_sections
from .permissions import Action
from .records import Page, Saved
from .related_pages import relate
from .revisions import save
from .search.index import count_words, forget_search
from .unset import UNSET, Given
from .writer import Writer
from .writing import check_version, writing, writing_page

__all__ = [
    "UNSET", "PageDraft", "Saved", "SectionDraft", "add_former_slugs", "archive_page", "archive_scope",
    "count_new_words", "create_page", "delete_page", "prepared", "remove_page", "unarchive_page", "update_page",
    "upsert_page", "upsert_pages",
]  # fmt: skip

PAGES = statements("pages")
SEARCH = statements("search_index")


class Prepared(NamedTuple):
    """A draft that was checked, the slug that it asks for, and what its body says."""

    draft: PageDraft
    slug: str
    text: PageText | None


async def create_page(database: Database, scope: Scope, draft: PageDraft) -> Saved:
    """A new page. A slug made from the title gets a number when it is taken; a given one must be free."""
    draft = await checked(draft)
    wanted = draft.slug or title_slug(draft.title)
    text = await draft_text(draft) or await read_sections(outline.templated(draft.type))
    async with writing(database, scope) as writer:
        if draft.slug:
            await check_free(writer, draft.type, draft.slug)
        slug = draft.slug or await free_slug(writer, draft.type, wanted)
        return await store(writer, None, drafted(draft, slug, text.sections), draft, "page.created", text)


async def upsert_page(
    database: Database,
    scope: Scope,
    draft: PageDraft,
    *,
    mark_compiled: bool = False,
    expected_version: int | None = None,
) -> Saved:
    """The page of this type and slug as the draft wants it, made if need be; what the draft leaves out stays."""
    ready = await prepared(draft)
    if mark_compiled and ready.draft.status == "archived":
        raise BadInput("A compile brings a page back: it cannot archive it as well.", "status")
    async with writing(database, scope) as writer:
        if expected_version is None:
            await check_slug_is_own(writer, ready)
        return await upsert(writer, ready, mark_compiled=mark_compiled, expected_version=expected_version)


async def check_slug_is_own(writer: Writer, ready: Prepared) -> None:
    """Refuse a slug that leads to a page which gave it up: who writes to it has not seen what is there now."""
    row = await writer.one(PAGES["find_heir"], type=ready.draft.type, slug=ready.slug)
    if row:
        raise Conflict(
            f'The slug "{ready.slug}" leads to the {ready.draft.type} "{row["title"]}", '
            f'whose slug is "{row["slug"]}" now. Write to that slug, or say expectedVersion if this page is meant.',
            row["version"],
            row["id"],
        )


async def upsert_pages(database: Database, scope: Scope, drafts: Sequence[Prepared]) -> list[Saved]:
    """The same for many drafts that were prepared: all of them, or none when one is refused.

    `count_new_words` is to follow once there are no more of them.
    """
    async with writing(database, scope) as writer:
        created = await create_new(writer, drafts)
        return [created.get(n) or await upsert(writer, ready) for n, ready in enumerate(drafts)]


async def count_new_words(database: Database, scope: Scope) -> None:
    """What pages written one batch after the other have left for the end: how often their words are said."""
    async with writing(database, scope) as writer:
        await count_words(writer)


async def create_new(writer: Writer, drafts: Sequence[Prepared]) -> dict[int, Saved]:
    """Those of the drafts that are a page nobody has yet, all at once; by their places. Not those that need others."""
    rows = await writer.all(
        PAGES["find_by_slugs"], types=list({one.draft.type for one in drafts}), slugs=[one.slug for one in drafts]
    )
    taken = {(row["type"], row["slug"]) for row in rows}
    new: dict[int, tuple[Prepared, PageText]] = {}
    for n, ready in enumerate(drafts):
        key, text = (ready.draft.type, ready.slug), ready.text
        if text and key not in taken and ready.draft.parent_id is None and not ready.draft.related:
            new[n] = ready, text
            taken.add(key)
    if not new:
        return {}
    ids = sorted(new_id() for _ in new)  # of pages that share a name, links mean the oldest
    made = [new_page(page_id, *one) for page_id, one in zip(ids, new.values(), strict=True)]
    saved = await create(writer, *made, later=True)
    await record_each(writer, "page.created", saved)
    return dict(zip(new, saved, strict=True))


def new_page(page_id: UUID, ready: Prepared, text: PageText) -> NewPage:
    draft = ready.draft
    sections = outline.named(text.sections, draft.section_slugs) or text.sections
    page = replace(drafted(draft, ready.slug, sections), id=page_id)
    return NewPage(page, text, draft.aliases, draft.alias_source, draft.former_slugs, draft.edit_summary)


async def prepared(draft: PageDraft) -> Prepared:
    """Everything of a draft that does not depend on what the wiki has. Raises BadInput."""
    draft = await checked(draft)
    slug = draft.slug or title_slug(draft.title)
    return Prepared(draft, slug, None if draft.body is None else await read_body(draft.body))


async def upsert(
    writer: Writer, ready: Prepared, *, mark_compiled: bool = False, expected_version: int | None = None
) -> Saved:
    draft, slug, text = ready
    before = await find_slug(writer, draft.type, slug)
    if before:
        check_version(before, expected_version)
    elif expected_version is not None:
        raise Conflict(f'There is no {draft.type} "{slug}" any more that you could have changed.')
    sections = await fitted(draft, text, before)
    after = brought_up(before, draft, sections) if before else drafted(draft, slug, sections)
    if mark_compiled:
        after = replace(after, status="active", last_compiled_at=writer.now)
    action = ("page.compiled" if mark_compiled else "page.updated") if before else "page.created"
    return await store(writer, before, after, draft, action, text)


async def update_page(
    database: Database,
    scope: Scope,
    page_id: UUID,
    *,
    type: str | None = None,
    title: Given[str] = UNSET,
    summary: Given[str | None] = UNSET,
    body: Given[str] = UNSET,
    tags: Given[list[str]] = UNSET,
    slug: Given[str] = UNSET,
    metadata: Given[dict[str, Any] | None] = UNSET,
    expected_version: int | None = None,
    edit_summary: str | None = None,
) -> Saved:
    """Change what is given. A new slug keeps the old one resolving; a new title keeps the old one as an alias."""
    changes: dict[str, Any] = {
        "title": title if title is UNSET else checks.title(title),
        "summary": summary if summary is UNSET else checks.optional(summary, "summary"),
        "tags": tags if tags is UNSET else checks.tags(tags),
        "slug": slug if slug is UNSET else checks.slug(slug),
        "metadata": metadata if metadata is UNSET else checks.metadata({} if metadata is None else metadata),
    }
    edit_summary = checks.optional(edit_summary, "editSummary")
    text = None if body is UNSET else await read_body(body)
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        check_type(page, type)
        after = replace(page, **{name: value for name, value in changes.items() if value is not UNSET})
        if text:
            after = replace(after, sections=outline.keeping(text.sections, page.sections))
        if after.slug != page.slug:
            await check_free(writer, page.type, after.slug, but=page)
        saved = await save(writer, page, after, text=text, edit_summary=edit_summary)
        if saved.changed:
            await record(writer, "page.updated", page.id, version=saved.version)
        return saved


def check_type(page: Page, wanted: str | None) -> None:
    """Links, default sections and what search promises rest on the type: it is what a page is."""
    if wanted is not None and wanted != page.type:
        raise BadInput(
            f"A page's type never changes: {page.name} stays one. Make a page of the other type with this text, "
            "and archive this one.",
            "type",
        )


async def add_former_slugs(database: Database, scope: Scope, page_id: UUID, slugs: Sequence[str]) -> Saved:
    """Let a page be found by slugs that it, or a page that became part of it, once had."""
    slugs = [checks.slug(slug) for slug in slugs]
    async with writing_page(database, scope, page_id) as (writer, page):
        saved = await save(writer, page, page, former_slugs=slugs)
        if saved.changed:
            await record(writer, "page.updated", page.id, version=saved.version)
        return saved


async def archive_page(
    database: Database, scope: Scope, page_id: UUID, *, expected_version: int | None = None
) -> Saved:
    """Out of sight, with everything it owns."""
    return await restate(database, scope, page_id, "archived", "page.archived", expected_version)


async def unarchive_page(
    database: Database, scope: Scope, page_id: UUID, *, expected_version: int | None = None
) -> Saved:
    """In sight again."""
    return await restate(database, scope, page_id, "active", "page.unarchived", expected_version)


async def restate(
    database: Database, scope: Scope, page_id: UUID, status: str, action: str, expected_version: int | None
) -> Saved:
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        saved = await save(writer, page, replace(page, status=status))
        if saved.changed:
            await record(writer, action, page.id)
        return saved


async def archive_scope(database: Database, scope: Scope) -> int:
    """Every page of the wiki out of sight; how many that were."""
    async with writing(database, scope, Action.MANAGE) as writer:
        archived = await writer.run(PAGES["archive_all"])
        if archived:
            await writer.run(SEARCH["archive_pages"])
            await writer.run(SEARCH["archive_names"])
            await resolve_all(writer)
            await refresh_all_hubness(writer)
            await record(writer, "wiki.archived", pages=archived)
        return archived


async def delete_page(database: Database, scope: Scope, page_id: UUID) -> Saved:
    """A page and all that belongs to it, for good. Its children become parentless, links to it are broken."""
    async with writing_page(database, scope, page_id, Action.MANAGE) as (writer, page):
        await remove_page(writer, page)
        await record(writer, "page.deleted", page.id, type=page.type, slug=page.slug, title=page.title)
        return Saved(page.id, page.version)


async def remove_page(writer: Writer, page: Page) -> None:
    """The page and all that hangs on it; the log is for the caller to write."""
    counting = await dependants(writer, page.id)
    for child in await writer.all(PAGES["orphan_children"], page_id=page.id):
        writer.changes.add(ChangeKind.MOVED, child["id"])
    for release in ("release_sections", "release_mentions"):
        await writer.run(PAGES[release], page_id=page.id)
    names = await forget_page(writer, page.id)
    await forget_search(writer, page.id)
    await writer.run(PAGES["delete_page"], page_id=page.id)
    await resolve(writer, names)
    await refresh_hubness(writer, counting)


async def store(
    writer: Writer, before: Page | None, after: Page, draft: PageDraft, action: str, text: PageText | None
) -> Saved:
    """The page with all that the draft says of it."""
    saved = await save(
        writer,
        before,
        after,
        text=text,
        edit_summary=draft.edit_summary,
        aliases=draft.aliases,
        alias_source=draft.alias_source,
        former_slugs=draft.former_slugs,
    )
    placed = draft.parent_id is not None and await place(writer, after, draft.parent_id)
    related = await relate(writer, saved.page_id, draft.related)
    if saved.changed or placed or related or after != before:
        await record(writer, action, saved.page_id, version=saved.version)
    return replace(saved, changed=saved.changed or placed or related)


def drafted(draft: PageDraft, slug: str, sections: Outline) -> Page:
    """The page that a draft describes, where there is none yet."""
    return Page(
        id=new_id(),
        type=draft.type,
        slug=slug,
        title=draft.title,
        summary=draft.summary,
        sections=sections,
        tags=tuple(draft.tags or ()),
        metadata=draft.metadata or {},
        status=draft.status or "active",
    )


def brought_up(page: Page, draft: PageDraft, sections: Outline) -> Page:
    """The page that there is, with what the draft gives."""
    return replace(
        page,
        title=draft.title,
        summary=page.summary if draft.summary is None else draft.summary,
        sections=sections,
        tags=page.tags if draft.tags is None else tuple(draft.tags),
        metadata=page.metadata if draft.metadata is None else draft.metadata,
        status=draft.status or page.status,
    )


async def draft_text(draft: PageDraft) -> PageText | None:
    """What a new page would say; none when the draft does not speak of it."""
    if draft.body is not None:
        return await read_body(draft.body)
    if draft.sections is not None:
        return await read_sections(await merge(draft, draft.sections, ()))
    return None


async def fitted(draft: PageDraft, text: PageText | None, page: Page | None) -> Outline:
    """The sections that the draft makes of the page's; `text` is what was read of its body."""
    current = page.sections if page else ()
    if text:
        return outline.named(text.sections, draft.section_slugs) or outline.keeping(text.sections, current)
    if draft.sections is not None:
        return await merge(draft, draft.sections, current)
    return current if page else outline.templated(draft.type)


async def merge(draft: PageDraft, sections: Sequence[SectionDraft], current: Outline) -> Outline:
    return await read_through(outline.size(current, sections), outline.merged, draft.type, current, sections)
