"""A page as a caller wants it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from content.limits import BODY, EDIT_SUMMARY, RELATED, SECTIONS
from db.tables import PAGE_TYPES
from lib.threads import read_in_thread

from .. import validation
from ..errors import BadInput
from .page_fields import checked_fields

STATUSES = ("active", "archived")
ALIAS_SOURCES = ("compiler", "manual", "import")


@dataclass(frozen=True, slots=True)
class SectionDraft:
    """One section; without a slug it is known by its heading, without a heading by its slug."""

    body: str
    slug: str | None = None
    heading: str | None = None


@dataclass(frozen=True, slots=True)
class PageDraft:
    """A page to be made or brought up to date. None means not given: what stands there stays.

    `former_slugs` resolve to the page as well, but for those that another page has; `topic/austin` is one of another
    type. `section_slugs` name the sections of `body`, where they do not follow from the headings. `related` are pages
    of the wiki that it is to be linked to, by slug, or by type and slug as `entity/austin`.
    """

    type: str
    title: str
    slug: str | None = None
    summary: str | None = None
    body: str | None = None
    sections: Sequence[SectionDraft] | None = None
    aliases: Sequence[str] = ()
    tags: Sequence[str] | None = None
    parent_id: UUID | None = None
    metadata: dict[str, Any] | None = None
    status: str | None = None
    edit_summary: str | None = None
    alias_source: str = "manual"
    former_slugs: Sequence[str] = ()
    section_slugs: Sequence[str] = ()
    related: Sequence[str] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields that frontmatter has, too, by their names in page_fields.py; they go into the metadata."""
    restored: bool = False
    """Whether it comes out of an export: then its parts may be as large as they ever could be stored."""


async def clean_draft(draft: PageDraft) -> PageDraft:
    """The draft, clean; its body and its sections are looked at where they are read."""
    if draft.body is not None and draft.sections is not None:
        raise BadInput("Give the whole body or single sections, not both.", "bodyMd")
    if draft.status is not None:
        validation.one_of(draft.status, STATUSES, "status")
    restored = draft.restored
    aliases = validation.check_count(draft.aliases, validation.aliases_most(restored=restored), "aliases")
    return replace(
        draft,
        type=validation.one_of(draft.type, PAGE_TYPES, "type"),
        title=validation.title(draft.title, restored=restored),
        slug=None if draft.slug is None else validation.slug(draft.slug),
        summary=validation.summary(draft.summary, restored=restored),
        sections=None if draft.sections is None else check_sections(draft.sections),
        aliases=await read_in_thread(sum(map(len, aliases)), validation.aliases, aliases, restored=restored),
        tags=None if draft.tags is None else validation.tags(draft.tags, restored=restored),
        metadata=None if draft.metadata is None else validation.metadata(draft.metadata, restored=restored),
        edit_summary=validation.optional(draft.edit_summary, "editSummary", EDIT_SUMMARY.limit(restored=restored)),
        alias_source=validation.one_of(draft.alias_source, ALIAS_SOURCES, "aliasSource"),
        former_slugs=[validation.former_slug(slug, PAGE_TYPES) for slug in draft.former_slugs],
        related=tuple(dict.fromkeys(validation.check_count(draft.related, RELATED.most, "related"))),
        fields=checked_fields(draft.fields),
    )


def check_sections(sections: Sequence[SectionDraft]) -> Sequence[SectionDraft]:
    """No more sections, and no more text in them, than a page can have: known before any of it is read."""
    length = sum(len(section.body) for section in validation.check_count(sections, SECTIONS.most, "sections"))
    if length > BODY.most:
        raise BadInput(f"These sections have {length:,} characters; at most {BODY.most:,} are possible.", "sections")
    return sections
