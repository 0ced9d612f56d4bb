"""Create, update, archive and delete pages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from content.limits import ALIASES_PER_CALL, EDIT_SUMMARY, RELATED
from content.names import normalise
from content.sensitivity import level_of
from db.connection import Row
from db.database import Database
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from .. import validation
from ..errors import BadInput, CairnError, NotFound
from ..links.references import (
    check_page_names,
    find_hubness_dependents,
    refresh_all_hubness,
    refresh_hubness,
    replace_related,
)
from ..links.targets import detach_targets, resolve, resolve_all
from ..model import outline
from ..model.drafts import PageDraft, clean_draft
from ..model.names import check_free, free_slug, title_slug
from ..model.page_fields import checked_fields, replace_metadata, with_fields
from ..model.pages import Page, Saved, find_page
from ..permissions import Action, Withheld, check_sees
from ..proposals.events import announce_events
from ..proposals.gate import PROPOSALS
from ..proposals.operations import proposable
from ..search.index import remove_from_search
from ..subscriptions.changes import ChangeKind
from ..transactions.outbox import ProposalKind
from ..transactions.transaction import NO_PAGE, check_version, writing, writing_page
from ..transactions.writer import Writer, record, record_consequence
from ..validation import UNSET, Given
from .aliases import replace_aliases
from .claims.trajectory import find_trajectories, keep_trajectory
from .insert import read_body, read_sections
from .update import save
from .upsert import draft_page, draft_text, store

PAGES = statements("pages/pages")
SEARCH = statements("search/index")
OPEN_LEVELS = ("public", "internal")  # every reader of a wiki may read these: no ceiling is lower


class PageExists(CairnError):
    """A page of the same type has the name already, as its title, alias or slug."""

    code = "PAGE_EXISTS"

    def __init__(self, page: Row) -> None:
        self.page, self.version = f"{page['type']}/{page['slug']}", page["version"]
        state = " It is archived." if page["status"] == "archived" else ""
        super().__init__(f"The page {self.page} is called so already.{state}")

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "page": self.page, "currentVersion": self.version}


@proposable
async def create_page(database: Database, scope: Scope, draft: PageDraft, *, unless_called: bool = False) -> Saved:
    """Create a page. A slug given in the draft must be free; a slug made from the title gets a number if it is taken.

    With `unless_called` and no slug in the draft, raises PageExists if a page of the type has the title as an alias, or
    has or had the slug made from it.
    """
    draft = await clean_draft(draft)
    wanted = draft.slug or title_slug(draft.title)
    text = await draft_text(draft) or await read_sections(outline.template_sections(draft.type))
    async with writing(database, scope) as writer:
        if draft.slug:
            await check_free(writer, draft.type, draft.slug)
        elif unless_called and (known := await find_called(writer, draft, wanted)):
            raise PageExists(known)
        slug = draft.slug or await free_slug(writer, draft.type, wanted)
        return await store(writer, None, draft_page(draft, slug, text.sections), draft, "page.created", text)


async def find_called(writer: Writer, draft: PageDraft, slug: str) -> Row | None:
    """Return the page of the draft's type that has its title or this slug, unless it is hidden from the caller."""
    row = await writer.one(PAGES["find_by_name"], type=draft.type, alias=normalise(draft.title), slug=slug)
    try:
        await check_sees(writer, writer.scope, [row["id"]] if row else [], NO_PAGE)
    except NotFound:
        return None
    except Withheld:  # only parts are hidden
        return row
    return row


@proposable
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
    aliases: Given[Sequence[str]] = UNSET,
    related: Given[Sequence[str]] = UNSET,
    fields: Mapping[str, Any] | None = None,
    expected_version: int | None = None,
    edit_summary: str | None = None,
) -> Saved:
    """Change the given parts of a page. An old slug stays as a former slug, and an old title as an alias.

    `aliases` replaces all aliases besides the title, and `related` all related pages, except links in the text. New
    `metadata` keeps the sensitivity unless it sets one; a sensitivity of null removes it. `fields` are the fields of
    page_fields.py; None removes a field.
    """
    changes: dict[str, Any] = {
        "title": title if title is UNSET else validation.title(title),
        "summary": summary if summary is UNSET else validation.summary(summary),
        "tags": tags if tags is UNSET else validation.tags(tags),
        "slug": slug if slug is UNSET else validation.slug(slug),
        "metadata": metadata if metadata is UNSET else validation.metadata({} if metadata is None else metadata),
    }
    edit_summary = validation.optional(edit_summary, "editSummary", EDIT_SUMMARY.maximum)
    cleaned_fields = checked_fields(fields or {})
    if aliases is not UNSET:
        names = validation.check_count(aliases, ALIASES_PER_CALL.maximum, "aliases")
        aliases = await offload(sum(map(len, names)), validation.aliases, names)
    if related is not UNSET:
        related = tuple(dict.fromkeys(validation.check_count(related, RELATED.maximum, "related")))
    text = None if body is UNSET else await read_body(body)
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        check_type(page, type)
        after = replace(page, **{name: value for name, value in changes.items() if value is not UNSET})
        after = replace(
            after, metadata=page.metadata if metadata is UNSET else replace_metadata(page.metadata, after.metadata)
        )
        if cleaned_fields:
            await check_page_names(writer, page.id, cleaned_fields)
            after = replace(after, metadata=with_fields(after.metadata, cleaned_fields))
        if text:
            after = replace(after, sections=outline.keep_identities(text.sections, page.sections))
        if after.slug != page.slug:
            await check_free(writer, page.type, after.slug, but=page)
        saved = await save(writer, page, after, text=text, edit_summary=edit_summary)
        renamed = aliases is not UNSET and await replace_aliases(writer, after, aliases)
        if (after.slug, after.title) != (page.slug, page.title):
            await keep_trajectory(writer, after, page.slug)
        relinked = related is not UNSET and await replace_related(writer, page.id, related)
        saved = replace(saved, changed=saved.changed or renamed or relinked)
        if saved.changed:
            await record(writer, "page.updated", page.id, version=saved.version)
        return saved


def check_type(page: Page, wanted: str | None) -> None:
    """Refuse to change the type of a page, because links, template sections and search filters depend on it."""
    if wanted is not None and wanted != page.type:
        raise BadInput(
            f"A page's type never changes: {page.name} stays one. Make a page of the other type with this text, "
            "and archive this one.",
            "type",
        )


@proposable
async def add_former_slugs(database: Database, scope: Scope, page_id: UUID, slugs: Sequence[str]) -> Saved:
    """Add former slugs to a page: slugs of earlier times, or of pages that were merged into it."""
    slugs = [validation.slug(slug) for slug in slugs]
    async with writing_page(database, scope, page_id) as (writer, page):
        saved = await save(writer, page, page, former_slugs=slugs)
        if saved.changed:
            await record(writer, "page.updated", page.id, version=saved.version)
        return saved


@proposable
async def archive_page(
    database: Database, scope: Scope, page_id: UUID, *, expected_version: int | None = None
) -> Saved:
    """Archive a page with everything that belongs to it."""
    return await change_status(database, scope, page_id, "archived", "page.archived", expected_version)


@proposable
async def unarchive_page(
    database: Database, scope: Scope, page_id: UUID, *, expected_version: int | None = None
) -> Saved:
    """Unarchive a page."""
    return await change_status(database, scope, page_id, "active", "page.unarchived", expected_version)


async def change_status(
    database: Database, scope: Scope, page_id: UUID, status: str, action: str, expected_version: int | None
) -> Saved:
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        saved = await save(writer, page, replace(page, status=status))
        if saved.changed:
            await record(writer, action, page.id)
        return saved


@proposable
async def archive_scope(database: Database, scope: Scope) -> int:
    """Archive all pages of the wiki. Return how many were archived."""
    async with writing(database, scope, Action.MANAGE) as writer:
        archived = await writer.run(PAGES["archive_all"])
        if archived:
            await writer.run(SEARCH["archive_pages"])
            await writer.run(SEARCH["archive_names"])
            await resolve_all(writer)
            await refresh_all_hubness(writer)
            await record(writer, "wiki.archived", pages=archived)
        return archived


@proposable
async def delete_page(database: Database, scope: Scope, page_id: UUID) -> Saved:
    """Delete a page and all that belongs to it for good. Its children lose their parent, and links to it break."""
    async with writing_page(database, scope, page_id, Action.MANAGE) as (writer, page):
        await drop_trajectory(writer, page)
        await remove_page(writer, page)
        await record(writer, "page.deleted", page.id, **names_to_log(page))
        return Saved(page.id, page.version)


def names_to_log(page: Page) -> dict[str, str]:
    """Return the type, slug and title of a deleted page for the log, if all readers could read the page.

    The log cannot check later who may read a deleted page.
    """
    is_open = level_of(page.metadata) in OPEN_LEVELS
    return {"type": page.type, "slug": page.slug, "title": page.title} if is_open else {}


async def drop_trajectory(writer: Writer, page: Page) -> None:
    """Delete the trajectory of a page that is deleted or transferred."""
    for row in await find_trajectories(writer, page):
        if row["is_own"] and (trajectory := await find_page(writer, row["id"])):
            await remove_page(writer, trajectory)
            writer.note_state(trajectory, trajectory)
            await record_consequence(writer, "page.deleted", trajectory.id, **names_to_log(trajectory))


async def end_proposals(writer: Writer, page: Page, reason: str | None = None) -> None:
    """Expire the open proposals about a page that is deleted or transferred."""
    rows = await writer.all(PROPOSALS["expire_of_page"], page_id=page.id, reason=reason)
    for row in rows:
        await record(writer, "proposal.expired", page.id, proposalId=str(row["id"]))
    await announce_events(writer, ProposalKind.EXPIRED, rows)


async def remove_page(writer: Writer, page: Page) -> None:
    """Delete a page and all that belongs to it. The caller writes the activity log."""
    await end_proposals(writer, page)
    counting = await find_hubness_dependents(writer, page.id)
    await writer.later(PAGES["return_placements"], page_id=page.id)
    for child in await writer.all(PAGES["orphan_children"], page_id=page.id):
        writer.changes.add(ChangeKind.MOVED, child["id"])
    for release in ("release_sections", "release_mentions"):
        await writer.later(PAGES[release], page_id=page.id)
    names = await detach_targets(writer, page.id)
    await remove_from_search(writer, page.id)
    if (level := level_of(page.metadata)) not in OPEN_LEVELS:
        await writer.run(PAGES["keep_sensitivity"], page_ids=[page.id], levels=[level])
        await writer.run(PAGES["clear_names_in_log"], page_id=page.id)
    await writer.run(PAGES["delete_page"], page_id=page.id)
    writer.removed[page.id] = page
    await resolve(writer, names)
    refresh_hubness(writer, counting)
