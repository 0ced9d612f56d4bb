"""Change single sections of a page. Each change of content makes a new version of the page."""

from dataclasses import replace
from uuid import UUID

from content.limits import BODY, EDIT_SUMMARY, SLUG
from db.database import Database
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from .. import validation
from ..errors import BadInput, NotFound
from ..model import outline
from ..model.drafts import SectionDraft
from ..model.outline import Outline
from ..model.pages import Page, Saved
from ..permissions import Action
from ..proposals.operations import proposable
from ..transactions.transaction import check_version, writing_page
from ..transactions.writer import Writer, record
from ..validation import UNSET, Given
from .update import save


@proposable
async def patch_section(
    database: Database,
    scope: Scope,
    page_id: UUID,
    *,
    section_slug: str,
    body: Given[str] = UNSET,
    heading: Given[str] = UNSET,
    expected_version: int | None = None,
    edit_summary: str | None = None,
) -> Saved:
    """Change a section's text or heading. A section that does not exist yet is added at the end."""
    section_slug = check_section_slug(section_slug)
    summary = validation.optional(edit_summary, "editSummary", EDIT_SUMMARY.maximum)
    added = [] if body is UNSET else [SectionDraft(validation.text(body, "bodyMd", BODY.maximum))]
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        sections = await offload(
            outline.size(page.sections, added),
            outline.patch_section,
            page.type,
            page.sections,
            section_slug,
            body,
            heading,
        )
        return await save_sections(writer, page, sections, "section.patched", section_slug, summary)


@proposable
async def remove_section(
    database: Database,
    scope: Scope,
    page_id: UUID,
    *,
    section_slug: str,
    expected_version: int | None = None,
    edit_summary: str | None = None,
) -> Saved:
    """Remove a section and its citations from a page."""
    section_slug = check_section_slug(section_slug)
    summary = validation.optional(edit_summary, "editSummary", EDIT_SUMMARY.maximum)
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        size = outline.size(page.sections)
        sections = await offload(size, outline.remove_section, page.sections, section_slug)
        return await save_sections(writer, page, sections, "section.removed", section_slug, summary)


@proposable
async def move_section(
    database: Database,
    scope: Scope,
    page_id: UUID,
    *,
    section_slug: str,
    position: int,
    expected_version: int | None = None,
    edit_summary: str | None = None,
) -> Saved:
    """Move a section to a position among the sections of the page, counted from 0."""
    section_slug = check_section_slug(section_slug)
    summary = validation.optional(edit_summary, "editSummary", EDIT_SUMMARY.maximum)
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        size = outline.size(page.sections)
        sections = await offload(size, outline.move_section, page.sections, section_slug, position)
        return await save_sections(writer, page, sections, "section.moved", section_slug, summary)


async def save_sections(
    writer: Writer, page: Page, sections: Outline, action: str, section_slug: str, summary: str | None
) -> Saved:
    """Save the page with these sections, and log the action if anything changed."""
    saved = await save(writer, page, replace(page, sections=sections), edit_summary=summary)
    if saved.changed:
        await record(writer, action, page.id, version=saved.version, sectionSlug=section_slug)
    return saved


def check_section_slug(section_slug: str) -> str:
    """Return the slug of a section to look up, if it is a valid text of the right length. Raises BadInput."""
    return validation.text(section_slug, "sectionSlug", SLUG.maximum)


AGGREGATION = statements("sources/aggregation")


async def suppress_promotion(
    database: Database, scope: Scope, page_id: UUID, section_slug: str, *, suppressed: bool = True
) -> Saved:
    """Prevent or allow the promotion of a rollup section to a page. Needs ADMINISTER."""
    async with writing_page(database, scope, page_id, Action.ADMINISTER) as (writer, page):
        row = await writer.one(AGGREGATION["find_aggregation"], page_id=page.id, slug=section_slug)
        if row is None:
            raise NotFound(f'The page has no section "{section_slug}".')
        status = status_of(row["aggregation"])
        if (status == "suppressed") == suppressed:
            return Saved(page.id, page.version, changed=False)
        await writer.run(
            AGGREGATION["set_status"],
            page_id=page.id,
            slug=section_slug,
            status="suppressed" if suppressed else "none",
        )
        writer.touched.add(page.id)
        action = "section.suppressed" if suppressed else "section.released"
        await record(writer, action, page.id, sectionSlug=section_slug)
        return Saved(page.id, page.version)


def status_of(aggregation: dict[str, object] | None) -> object:
    """Return the promotion status of a section. Raises BadInput if it can never be promoted, or has been promoted."""
    if aggregation is None:
        raise BadInput("This is not a rollup section, so it is never promoted to a page.", "sectionSlug")
    if aggregation.get("promotion_status") == "promoted":
        raise BadInput("This section was already promoted to a page. Archive that page, or merge it.", "sectionSlug")
    return aggregation.get("promotion_status")
