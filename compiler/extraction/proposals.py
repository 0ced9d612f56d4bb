"""Proposals for a page: the sections that have news, each with the sources that say it, names and tags."""

import re
from collections import Counter
from collections.abc import Set
from uuid import UUID

from content.names import normalise
from content.rollups import first_sentence
from content.search.words import SPACELESS
from content.templates import TEMPLATES

from ..planner import NewPage, PageUpdate, SectionProposal
from . import metadata
from .drafts import Draft
from .evidence import DEFINITION, Subject, definition, entries, is_tagged, naming
from .text import Sentence, folded, padded
from .writer import RELATED

SUMMARY_MAX = 200
NAMES_MAX = 3
FIRST = 6  # characters before a name with which a sentence begins
# Of these a sentence of a text is none that could stand alone: labels, paths through menus, what introduces a list.
BROKEN = re.compile(r"[:,;：，；?？]$|→|^[^:：.]{1,40}[:：]\s|^\W*[a-z]+(?:[._(]\w*)+ ")
ENDED = re.compile(r"[.!…。！।॥][\"'”’»)\]」』）]*$")


def sentence_about(draft: Draft) -> str | None:
    """Return the best sentence that says what it is; for a page that is there only a better one than it has."""
    names = draft.names
    if draft.type == "decision":
        return None if draft.card else _decided(draft)
    found = [
        (definition(sentence, names), sentence.text)
        for reading in draft.oldest_first
        for sentence in naming(reading, names)
        if stands_alone(sentence, names)
    ]
    score, text = max(found, key=lambda one: (one[0], one[1]), default=(0.0, ""))
    if score < DEFINITION and (draft.card or not text or _given(draft)):
        return None
    if score < DEFINITION and draft.type == "topic":
        text = max((text for _, text in found if _opens(text, names)), default="", key=len)
    current = draft.card.summary if draft.card else None
    if current and (definition(Sentence(current, folded(current)), names), current) >= (score, text):
        return None
    return first_sentence(text, SUMMARY_MAX) or None


def circumstances(draft: Draft) -> str | None:
    """Describe a page that no sentence defines: city and tags (`Lisbon: food, tavern`), else what its sources name."""
    return draft.title if draft.type == "decision" else _given(draft) or _named(draft)


def stands_alone(sentence: Sentence, names: Set[str]) -> bool:
    """Return whether the sentence is a whole statement that says more than the name."""
    text = sentence.text
    if text[:1].islower() or BROKEN.search(text):
        return False
    return sentence.words.strip() not in names


def ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _opens(text: str, names: Set[str]) -> bool:
    """Return whether a sentence is about a topic, and does not only use its word."""
    words = folded(text)
    is_whole = ENDED.search(text) is not None or SPACELESS.search(text) is not None
    return is_whole and any(0 <= words.find(padded(name)) < FIRST for name in names)


def _decided(draft: Draft) -> str | None:
    lines = [
        said
        for reading in draft.readings.values()
        for said in reading.sentences
        if normalise(draft.title)[:40] in said.words
    ]
    return first_sentence(lines[0].text, SUMMARY_MAX) if lines else None


def _given(draft: Draft) -> str | None:
    """Return the city and tags that the metadata give: `Lisbon: food, tavern`."""
    cities: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    for reading in draft.readings.values():
        if is_tagged(reading, draft.subject, "place", "city"):
            tags.update(metadata.tags(reading.source))
        if is_tagged(reading, draft.subject, "place"):
            cities.update(metadata.cities(reading.source.metadata)[:1])
    words = ", ".join(tag for tag, _ in ranked(tags)[:NAMES_MAX])
    city = next((city for city, _ in ranked(cities)), "")
    return f"{city}: {words}" if city and words else city or words or None


def _named(draft: Draft) -> str | None:
    """Return what several of its sources name: `Priya Raman, Zilker Park`."""
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for reading in draft.oldest_first:
        for key, sighting in reading.sightings.items():
            if key not in draft.names and sighting.marks & {"name", "place", "city", "person", "project", "link"}:
                counts[key] += 1
                forms.setdefault(key, sighting.name)
    often = [forms[key] for key, count in ranked(counts) if count > 1][:NAMES_MAX]
    return ", ".join(name[:1].upper() + name[1:] for name in often) if len(often) > 1 else None


TAGS_MAX = 8
HEADINGS = {slug: heading for sections in TEMPLATES.values() for slug, heading in sections}
SECTIONS = {
    "entity": ("overview", "notes", "visits", "related"),
    "topic": ("summary", "highlights", "related_entities", "recent"),
    "decision": ("context", "decision", "rationale", "consequences"),
}


def new_page(draft: Draft) -> NewPage | None:
    """Propose a page; None when no source says a sentence about it."""
    sections = _sections(draft)
    if not sections:
        return None
    return NewPage(
        draft.type, draft.title, sections, sentence_about(draft) or circumstances(draft), tuple(draft.aliases),
        tuple(tag for tag, _ in ranked(draft.tags)[:TAGS_MAX]), tuple(draft.promotes),
    )  # fmt: skip


def page_update(draft: Draft) -> PageUpdate | None:
    """Propose an update of the page; None when there is nothing new."""
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
    """Return the sources that have something to say in the section, oldest first."""
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
