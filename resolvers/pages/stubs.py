"""Write stubs, paragraphs and pages together with the citations of their sources, in one transaction each."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from content.templates import REQUIRED, TEMPLATES
from db.database import Database
from db.one_transaction import OneTransaction
from db.scope import Scope

from .. import validation
from ..errors import BadInput
from ..model.drafts import PageDraft, SectionDraft
from ..model.lookup import PageAddress, locate
from ..model.outline import Outline
from ..model.pages import Saved, find_pages
from ..proposals.operations import proposable
from ..sources.mentions import promote_mentions
from ..sources.sources import cite_source, locate_source
from ..transactions.transaction import read_connection, writing_page
from ..transactions.writer import Writer
from .edits import append_to_page
from .lifecycle import create_page
from .upsert import draft_text, upsert_page

FIELDS = {"why": "why", "how_to_apply": "howToApply"}
"""The names of the arguments that give the text of a section, by section slug."""


def stub_draft(
    type: str, title: str, text: str = "", *, why: str | None = None, how_to_apply: str | None = None, **more: Any
) -> PageDraft:
    """Return a draft with the template sections of its type; `text` is the first section. Raises BadInput."""
    first, *others = TEMPLATES[validation.one_of(type, TEMPLATES, "type")]
    texts = {"why": why or "", "how_to_apply": how_to_apply or ""}
    for slug, part in texts.items():
        if part and slug not in dict(others):
            raise BadInput(f"Pages of the type {type} have no such section.", FIELDS[slug])
    sections = [SectionDraft(text, *first), *(SectionDraft(texts.get(slug, ""), slug, head) for slug, head in others)]
    return PageDraft(type, title, sections=sections, **more)


@proposable
async def write_stub(database: Database, scope: Scope, draft: PageDraft, source: str | None = None) -> Saved:
    """Create a page whose first section cites a source, given as KIND/REF or by its id, in one transaction.

    Raises BadInput if a section that the type requires is empty. Only stubs are checked: `create_page`, imports and the
    compiler may write incomplete pages, and clients of the released contract create concepts without these sections.
    Lint reports those (`concept_reasons`).
    """
    await check_required(draft)
    source_id = await locate_source(database, scope, source) if source else None
    async with OneTransaction(database) as whole:
        saved = await create_page(whole, scope, draft, unless_called=True)
        if source_id:
            slug = await section_slug_of(whole, scope, saved, 0)
            await cite_source(whole, scope, page_id=saved.page_id, section_slug=slug, source_id=source_id)
        await whole.commit()
    return saved


@proposable
async def append_cited(
    database: Database,
    scope: Scope,
    address: PageAddress,
    *,
    text: str,
    source: str,
    section_slug: str | None = None,
    expected_version: int | None = None,
    summary: str | None = None,
) -> Saved:
    """Append a paragraph to a section, the last one by default, and cite the source there, in one transaction."""
    page_id, source_id = await locate(database, scope, address), await locate_source(database, scope, source)
    async with OneTransaction(database) as whole:
        done = await append_to_page(
            whole,
            scope,
            PageAddress(page_id),
            text=text,
            section_slug=section_slug,
            expected_version=expected_version,
            summary=summary,
        )
        slug = section_slug or await section_slug_of(whole, scope, done.saved, -1)
        await cite_source(whole, scope, page_id=page_id, section_slug=slug, source_id=source_id)
        await whole.commit()
    return done.saved


@proposable
async def write_cited(
    database: Database,
    scope: Scope,
    draft: PageDraft,
    citations: Sequence[tuple[str, UUID]],
    promotes: Sequence[str] = (),
) -> Saved:
    """Create or update a page, and cite sources, given as (section slug, source id), in one transaction.

    A reviewer may have left out a section, which is then not cited. The mentions of the normalised names `promotes` are
    marked as promoted to the page.
    """
    async with OneTransaction(database) as whole:
        saved = await upsert_page(whole, scope, draft, mark_compiled=True)
        slugs = {section.slug for section in await sections_of(whole, scope, saved)}
        for slug, source_id in citations:
            if slug in slugs:
                await cite_source(whole, scope, page_id=saved.page_id, section_slug=slug, source_id=source_id)
        if promotes:
            async with writing_page(whole, scope, saved.page_id) as (writer, _):
                await promote_mentions(writer, dict.fromkeys(promotes, saved.page_id))
        await whole.commit()
    return saved


async def check_required(draft: PageDraft) -> None:
    """Raise BadInput for a stub without a text in a section that its type requires."""
    if draft.type not in REQUIRED:
        return
    text = await draft_text(draft)
    filled = {section.slug for section in text.sections if section.body.strip()} if text else set()
    for slug in REQUIRED[draft.type]:
        if slug not in filled:
            heading = dict(TEMPLATES[draft.type])[slug]
            raise BadInput(f'A stub of the type {draft.type} needs the section "{heading}".', FIELDS[slug])


async def section_slug_of(database: Database, scope: Scope, saved: Saved, place: int) -> str:
    return (await sections_of(database, scope, saved))[place].slug


async def sections_of(database: Database, scope: Scope, saved: Saved) -> Outline:
    async with read_connection(database) as connection:
        return (await find_pages(Writer(connection, scope), [saved.page_id]))[saved.page_id].sections
