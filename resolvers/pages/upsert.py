"""Create or update pages from drafts: a single page, or many pages in one transaction."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from ..errors import BadInput, Conflict
from ..links.references import check_page_names, link_related
from ..model import outline
from ..model.drafts import PageDraft, SectionDraft, clean_draft
from ..model.names import find_slug, title_slug
from ..model.outline import Outline
from ..model.page_fields import replace_metadata, with_fields
from ..model.pages import Page, Saved
from ..permissions import check_sees
from ..proposals.operations import proposable
from ..search.index import count_words
from ..transactions.transaction import check_version, writing
from ..transactions.writer import Writer, record, record_each
from .hierarchy import place
from .insert import PageText, PageToInsert, create, read_body, read_sections
from .update import save


async def store(
    writer: Writer, before: Page | None, after: Page, draft: PageDraft, action: str, text: PageText | None
) -> Saved:
    """Save the page with the names, the parent and the related pages of the draft, and log the action."""
    await check_page_names(writer, after.id, draft.fields)
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
    related = await link_related(writer, saved.page_id, draft.related)
    if saved.changed or placed or related or after != before:
        await record(writer, action, saved.page_id, version=saved.version)
    return replace(saved, changed=saved.changed or placed or related)


def draft_page(draft: PageDraft, slug: str, sections: Outline) -> Page:
    """Return the new page that a draft describes."""
    return Page(
        id=new_id(),
        type=draft.type,
        slug=slug,
        title=draft.title,
        summary=draft.summary,
        sections=sections,
        tags=tuple(draft.tags or ()),
        metadata=with_fields(draft.metadata, draft.fields),
        status=draft.status or "active",
    )


def update_from_draft(page: Page, draft: PageDraft, sections: Outline) -> Page:
    """Return the existing page with the fields that the draft gives.

    Only a draft that `replaces_metadata` may lack the sensitivity of the page to remove it (see `replace_metadata`).
    """
    known = page.metadata
    if draft.metadata is not None:
        replaces = draft.replaces_metadata
        known = dict(draft.metadata) if replaces else replace_metadata(page.metadata, draft.metadata)
    return replace(
        page,
        title=draft.title,
        summary=page.summary if draft.summary is None else draft.summary,
        sections=sections,
        tags=page.tags if draft.tags is None else tuple(draft.tags),
        metadata=with_fields(known, draft.fields),
        status=draft.status or page.status,
    )


async def find_page_for(writer: Writer, draft: PageDraft) -> Page | None:
    """Return the page that `upsert_page` would update for a draft, or None if it would create one."""
    return await find_slug(writer, draft.type, draft.slug or title_slug(draft.title))


def with_fields_of(draft: PageDraft, page: Page) -> PageDraft:
    """Return the draft with the summary of the page, if it has one, and with the tags of both."""
    tags = dict.fromkeys([*page.tags, *(draft.tags or ())])
    return replace(draft, summary=page.summary or draft.summary, tags=list(tags))


async def draft_text(draft: PageDraft) -> PageText | None:
    """Return the text of a draft for a new page, or None if the draft has neither a body nor sections."""
    if draft.body is not None:
        return await read_body(draft.body, restored=draft.restored)
    if draft.sections is not None:
        return await read_sections(await merge_drafts(draft, draft.sections, ()))
    return None


async def merge_sections(draft: PageDraft, text: PageText | None, page: Page | None) -> Outline:
    """Return the sections of the page with those of the draft. `text` is the parsed body of the draft, if any.

    The body of an imported note keeps stricter marks of sections, as its metadata keeps the sensitivity of the page.
    """
    current = page.sections if page else ()
    if text:
        sections = outline.rename_slugs(text.sections, draft.section_slugs)
        sections = sections or outline.keep_identities(text.sections, current)
        return outline.keep_marks(sections, current) if draft.restored and not draft.replaces_metadata else sections
    if draft.sections is not None:
        return await merge_drafts(draft, draft.sections, current)
    return current if page else outline.template_sections(draft.type)


async def merge_drafts(draft: PageDraft, sections: Sequence[SectionDraft], current: Outline) -> Outline:
    return await offload(outline.size(current, sections), outline.merge_drafts, draft.type, current, sections)


PAGES = statements("pages/pages")


class Prepared(NamedTuple):
    """A cleaned draft with the slug that it gives or that follows from its title, and its parsed body."""

    draft: PageDraft
    slug: str
    text: PageText | None


@proposable
async def upsert_page(
    database: Database,
    scope: Scope,
    draft: PageDraft,
    *,
    mark_compiled: bool = False,
    expected_version: int | None = None,
) -> Saved:
    """Create or update the page with the type and slug of the draft. Fields that the draft does not give stay."""
    prepared = await prepare_draft(draft)
    if mark_compiled and prepared.draft.status == "archived":
        raise BadInput("markCompiled unarchives the page. Leave out the status ARCHIVED, or markCompiled.", "status")
    async with writing(database, scope) as writer:
        if expected_version is None:
            await check_slug_is_own(writer, prepared)
        return await upsert(writer, prepared, mark_compiled=mark_compiled, expected_version=expected_version)


async def check_slug_is_own(writer: Writer, prepared: Prepared) -> None:
    """Raise Conflict for a former slug of a page, because the caller may not know that the page was renamed."""
    row = await writer.one(PAGES["find_by_former_slug"], type=prepared.draft.type, slug=prepared.slug)
    if row:
        await check_sees(writer, writer.scope, [row["id"]], f'The slug "{prepared.slug}" is taken.')
        raise Conflict(
            f'The slug "{prepared.slug}" leads to the {prepared.draft.type} "{row["title"]}", '
            f'whose slug is "{row["slug"]}" now. Write to that slug, or say expectedVersion if this page is meant.',
            row["version"],
            row["id"],
        )


async def upsert_pages(database: Database, scope: Scope, drafts: Sequence[Prepared]) -> list[Saved]:
    """Create or update many pages from prepared drafts in one transaction.

    The caller calls `count_new_words` after its last batch.
    """
    async with writing(database, scope) as writer:
        created = await create_new_pages(writer, drafts)
        return [created.get(n) or await upsert(writer, prepared) for n, prepared in enumerate(drafts)]


async def count_new_words(database: Database, scope: Scope) -> None:
    """Update the word counts of search, which `upsert_pages` does not update."""
    async with writing(database, scope) as writer:
        await count_words(writer)


async def create_new_pages(writer: Writer, drafts: Sequence[Prepared]) -> dict[int, Saved]:
    """Create the new pages among the drafts together. Return the results by the position of their drafts.

    Drafts without a body, and drafts with a parent or related pages, are left to `upsert`.
    """
    rows = await writer.all(
        PAGES["find_by_slugs"],
        types=list({prepared.draft.type for prepared in drafts}),
        slugs=[prepared.slug for prepared in drafts],
    )
    taken = {(row["type"], row["slug"]) for row in rows}
    new: dict[int, tuple[Prepared, PageText]] = {}
    for n, prepared in enumerate(drafts):
        key, text = (prepared.draft.type, prepared.slug), prepared.text
        if text and key not in taken and prepared.draft.parent_id is None and not prepared.draft.related:
            new[n] = prepared, text
            taken.add(key)
    if not new:
        return {}
    # Ids in the order of the drafts: of several pages with the same name, links resolve to the lowest id.
    ids = sorted(new_id() for _ in new)
    pages = [new_page(page_id, prepared, text) for page_id, (prepared, text) in zip(ids, new.values(), strict=True)]
    saved = await create(writer, *pages, later=True)
    await record_each(writer, "page.created", saved)
    return dict(zip(new, saved, strict=True))


def new_page(page_id: UUID, prepared: Prepared, text: PageText) -> PageToInsert:
    draft = prepared.draft
    sections = outline.rename_slugs(text.sections, draft.section_slugs) or text.sections
    page = replace(draft_page(draft, prepared.slug, sections), id=page_id)
    return PageToInsert(page, text, draft.aliases, draft.alias_source, draft.former_slugs, draft.edit_summary)


async def prepare_draft(draft: PageDraft) -> Prepared:
    """Clean and parse a draft, as far as it does not depend on the content of the wiki. Raises BadInput."""
    draft = await clean_draft(draft)
    slug = draft.slug or title_slug(draft.title)
    return Prepared(draft, slug, None if draft.body is None else await read_body(draft.body, restored=draft.restored))


async def upsert(
    writer: Writer, prepared: Prepared, *, mark_compiled: bool = False, expected_version: int | None = None
) -> Saved:
    draft, slug, text = prepared
    before = await find_slug(writer, draft.type, slug)
    if before:
        check_version(before, expected_version)
    elif expected_version is not None:
        raise Conflict(f'There is no {draft.type} "{slug}" any more that you could have changed.')
    sections = await merge_sections(draft, text, before)
    after = update_from_draft(before, draft, sections) if before else draft_page(draft, slug, sections)
    if mark_compiled:
        after = replace(after, status="active", last_compiled_at=writer.now)
    action = ("page.compiled" if mark_compiled else "page.updated") if before else "page.created"
    return await store(writer, before, after, draft, action, text)
