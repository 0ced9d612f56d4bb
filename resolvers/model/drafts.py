"""Drafts: pages as callers send them, before they are stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from content.limits import BODY, EDIT_SUMMARY, RELATED, SECTIONS
from db.tables import PAGE_TYPES
from lib.threads import offload

from .. import validation
from ..errors import BadInput
from .page_fields import checked_fields

STATUSES = ("active", "archived")
ALIAS_SOURCES = ("compiler", "manual", "import")


@dataclass(frozen=True, slots=True)
class SectionDraft:
    """A section of a draft. It is identified by its slug or, without a slug, by its heading."""

    body: str
    slug: str | None = None
    heading: str | None = None


@dataclass(frozen=True, slots=True)
class PageDraft:
    """A page to create or update. A field that is None keeps its stored value.

    `former_slugs` resolve to the page as well, unless another page has them; `topic/austin` is a former slug of another
    type. `section_slugs` are the slugs of the sections of `body`, if they do not follow from the headings. `related`
    are pages of the wiki to link to, by slug or by type and slug such as `entity/austin`.
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
    """Fields of page_fields.py by their argument names. They are stored in the metadata."""
    restored: bool = False
    """Whether the draft comes from an export: its parts may then be as large as stored pages could ever be."""
    replaces_metadata: bool = False
    """Whether the metadata replaces all stored metadata. Otherwise it keeps the sensitivity unless it sets one."""


async def clean_draft(draft: PageDraft) -> PageDraft:
    """Return the cleaned draft. Raises BadInput. Body and sections are validated later, when they are parsed."""
    if draft.body is not None and draft.sections is not None:
        raise BadInput("Give the whole body or single sections, not both.", "bodyMd")
    if draft.status is not None:
        validation.one_of(draft.status, STATUSES, "status")
    restored = draft.restored
    aliases = validation.check_count(draft.aliases, validation.max_aliases(restored=restored), "aliases")
    return replace(
        draft,
        type=validation.one_of(draft.type, PAGE_TYPES, "type"),
        title=validation.title(draft.title, restored=restored),
        slug=None if draft.slug is None else validation.slug(draft.slug),
        summary=validation.summary(draft.summary, restored=restored),
        sections=None if draft.sections is None else check_sections(draft.sections),
        aliases=await offload(sum(map(len, aliases)), validation.aliases, aliases, restored=restored),
        tags=None if draft.tags is None else validation.tags(draft.tags, restored=restored),
        metadata=None if draft.metadata is None else validation.metadata(draft.metadata, restored=restored),
        edit_summary=validation.optional(draft.edit_summary, "editSummary", EDIT_SUMMARY.limit(restored=restored)),
        alias_source=validation.one_of(draft.alias_source, ALIAS_SOURCES, "aliasSource"),
        former_slugs=[validation.former_slug(slug, PAGE_TYPES) for slug in draft.former_slugs],
        related=tuple(dict.fromkeys(validation.check_count(draft.related, RELATED.maximum, "related"))),
        fields=checked_fields(draft.fields),
    )


def check_sections(sections: Sequence[SectionDraft]) -> Sequence[SectionDraft]:
    """Return the sections, if neither their number nor their total length exceeds the limits. They are not parsed."""
    length = sum(len(section.body) for section in validation.check_count(sections, SECTIONS.maximum, "sections"))
    if length > BODY.maximum:
        raise BadInput(f"These sections have {length:,} characters; at most {BODY.maximum:,} are possible.", "sections")
    return sections
