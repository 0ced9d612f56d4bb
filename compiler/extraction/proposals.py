"""What is proposed for a page: the sections that have news, each with the sources that say it, names and tags."""

from uuid import UUID

from content.names import normalise
from content.templates import TEMPLATES

from ..planner import NewPage, PageUpdate, SectionProposal
from .drafts import Draft
from .evidence import DEFINITION, Subject, entries
from .summaries import circumstances, ranked, sentence_about
from .writer import RELATED

TAGS_MAX = 8
HEADINGS = {slug: heading for sections in TEMPLATES.values() for slug, heading in sections}
SECTIONS = {
    "entity": ("overview", "notes", "visits", "related"),
    "topic": ("summary", "highlights", "related_entities", "recent"),
    "decision": ("context", "decision", "rationale", "consequences"),
}


def new_page(draft: Draft) -> NewPage | None:
    """None when no source says a sentence about it."""
    sections = _sections(draft)
    if not sections:
        return None
    return NewPage(
        draft.type, draft.title, sections, sentence_about(draft) or circumstances(draft), tuple(draft.aliases),
        tuple(tag for tag, _ in ranked(draft.tags)[:TAGS_MAX]), tuple(draft.promotes),
    )  # fmt: skip


def page_update(draft: Draft) -> PageUpdate | None:
    """None when there is nothing new."""
    card = draft.card
    assert card is not None
    sections = _sections(draft)
    aliases = tuple(name for name in draft.aliases if normalise(name) not in card.aliases)
    tags = tuple(tag for tag, _ in ranked(draft.tags) if tag not in card.tags)[: max(0, TAGS_MAX - len(card.tags))]
    if not sections and not aliases:
        return None
    return PageUpdate(card.id, sections, sentence_about(draft), aliases, tags)


def _sections(draft: Draft) -> tuple[SectionProposal, ...]:
    subject = draft.subject
    proposals = (
        SectionProposal(slug, _sources(draft, subject, slug), HEADINGS[slug])
        for slug in SECTIONS.get(draft.type, ("notes",))
    )
    return tuple(proposal for proposal in proposals if proposal.source_ids)


def _sources(draft: Draft, subject: Subject, slug: str) -> tuple[UUID, ...]:
    """Those that have something to say there, oldest first."""
    if slug in RELATED:
        return tuple(reading.source.id for reading in draft.oldest_first if reading.source.id in draft.linking)
    readings = draft.oldest_first
    if slug not in ("overview", "summary"):
        return tuple(reading.source.id for reading in readings if entries(slug, reading, subject))
    scored = [(found[0].score, reading.source.id) for reading in readings if (found := entries(slug, reading, subject))]
    defining = tuple(id for score, id in scored if score >= DEFINITION)
    if defining or not scored or (draft.card and slug in draft.card.section_slugs):
        return defining
    return (max(scored, key=lambda one: one[0])[1],)
