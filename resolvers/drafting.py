"""Drafts made into pages: what a page is once it says what its draft wants."""

from collections.abc import Sequence
from dataclasses import replace

from db.ids import new_id

from . import outline
from .activity import record
from .drafts import PageDraft, SectionDraft
from .hierarchy import place
from .long_texts import read_through
from .outline import Outline
from .page_texts import PageText, read_body, read_sections
from .records import Page, Saved
from .related_pages import relate
from .revisions import save
from .writer import Writer


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
        return await read_body(draft.body, restored=draft.restored)
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
