"""The proposals for a draft: the sections that have news with the sources of each, the summary, names and tags."""

import re
from collections import Counter
from collections.abc import Sequence, Set
from typing import NamedTuple
from uuid import UUID

from content.names import normalise
from content.search.words import SPACELESS
from content.sentences import first_sentence
from content.templates import TEMPLATES

from ..planner import LEADING, NewPage, PageUpdate, SectionProposal
from .drafts import Draft
from .evidence import EvidenceLine, Subject, entries, find_decision, is_tagged, naming
from .texts import metadata
from .texts.language import language_of
from .texts.sentence_scores import DEFINITION, form_of, telling
from .texts.text import Sentence, fold_text, padded
from .writer import RELATED, is_new, lead_of

SUMMARY_MAX = 200
NAMES_MAX = 3
FIRST = 6  # characters that may precede a name at the beginning of a sentence
# Sentences that cannot stand alone: introductions of lists, paths through menus, labels of up to three words, and those
# that begin with code.
BROKEN = re.compile(r"[:,;：，；?？]$|→|^[^\s:：.]{1,40}(?: [^\s:：.]{1,20}){0,2}[:：]\s|^\W*[a-z]+(?:[._(]\w*)+ ")
ENDED = re.compile(r"[.!…。！।॥][\"'”’»)\]」』）]*$")


def sentence_about(draft: Draft) -> str | None:
    """Return the best sentence for the summary of the page, or None.

    For a stored page, it must be a definition that is better than the present summary.
    """
    names = draft.subject.names
    if draft.type == "decision":
        return None if draft.card else _decided(draft)
    found = [
        (_rank(sentence, names), sentence)
        for reading in draft.oldest_first
        for sentence in naming(reading, names)
        if stands_alone(sentence, names)
    ]
    best, said = max(found, key=lambda pair: (pair[0], pair[1].speaker), default=(LOWEST, None))
    if best.telling < DEFINITION and (draft.card or said is None or _city_and_tags(draft)):
        return None
    if said and best.telling < DEFINITION and draft.type == "topic":
        said = max(
            (sentence for _, sentence in found if _opens(sentence.text, names)),
            key=lambda sentence: (len(sentence.text), sentence.text),
            default=said if best.telling >= 0 and ENDED.search(said.text) else None,
        )
    current = draft.card.summary if draft.card else None
    if said is None or (current and _rank(Sentence(current, fold_text(current)), names) >= best):
        return None
    text = first_sentence(said.text, SUMMARY_MAX)
    return (f"{said.speaker}: “{text}”" if said.speaker else text) or None


class Rank(NamedTuple):
    """The rank of a sentence as a summary, as a sort key."""

    telling: float
    """How well it says what the page is about; below zero for greetings and questions."""
    opens: bool
    """Whether it begins with a name of the page."""
    text: str


LOWEST = Rank(0.0, False, "")


def _rank(sentence: Sentence, names: frozenset[str]) -> Rank:
    is_spaceless = form_of(sentence.text).is_spaceless  # its language then does not matter
    language = "" if is_spaceless else language_of(sentence.text, sentence.words.split())
    opens = any(0 <= sentence.words.find(padded(name)) < FIRST for name in names)
    return Rank(telling(sentence, names, language), opens, sentence.text)


def describe_page(draft: Draft) -> str | None:
    """Return a summary for a page that no sentence defines.

    This is the title of a decision, the city and tags (`Lisbon: food, tavern`), or the names that belong to a topic.
    """
    if draft.type == "decision":
        return draft.title
    return _city_and_tags(draft) or (_common_names(draft) if draft.type == "topic" else None)


def stands_alone(sentence: Sentence, names: Set[str]) -> bool:
    """Return whether the sentence is a whole statement that says more than the name."""
    text = sentence.text
    if text[:1].islower() or BROKEN.search(text):
        return False
    return sentence.words.strip() not in names


def most_common(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _opens(text: str, names: Set[str]) -> bool:
    """Return whether it is a whole sentence that begins with a name of the topic."""
    words = fold_text(text)
    is_whole = ENDED.search(text) is not None or SPACELESS.search(text) is not None
    return is_whole and any(0 <= words.find(padded(name)) < FIRST for name in names)


def _decided(draft: Draft) -> str | None:
    """Return the oldest sentence that states the decision."""
    found = (find_decision(reading, draft.subject) for reading in draft.oldest_first)
    return next((first_sentence(decision.sentence.text, SUMMARY_MAX) for decision in found if decision), None)


def _city_and_tags(draft: Draft) -> str | None:
    """Return the most common city and tags in the metadata of sources about the page: `Lisbon: food, tavern`."""
    cities: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    for reading in draft.readings.values():
        if is_tagged(reading, draft.subject, "place", "city"):
            tags.update(metadata.tags(reading.source))
        if is_tagged(reading, draft.subject, "place"):
            cities.update(metadata.cities(reading.source.metadata)[:1])
    words = ", ".join(tag for tag, _ in most_common(tags)[:NAMES_MAX])
    city = next((city for city, _ in most_common(cities)), "")
    return f"{city}: {words}" if city and words else city or words or None


def _common_names(draft: Draft) -> str | None:
    """Return the most common other names, if at least two are in several of its sources: `Priya Raman, Zilker Park`."""
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for reading in draft.oldest_first:
        for key, sighting in reading.sightings.items():
            if key not in draft.names and sighting.marks & {"name", "place", "city", "person", "project", "link"}:
                counts[key] += 1
                forms[key] = max(
                    forms.get(key, ""), sighting.name, key=lambda form: (sum(map(str.isupper, form)), form)
                )
    often = [forms[key] for key, count in most_common(counts) if count > 1][:NAMES_MAX]
    return ", ".join(name[:1].upper() + name[1:] for name in often) if len(often) > 1 else None


TAGS_MAX = 8
HEADINGS = {slug: heading for sections in TEMPLATES.values() for slug, heading in sections}
SECTIONS = {
    "entity": ("overview", "notes", "visits", "related"),
    "topic": ("summary", "highlights", "related_entities", "recent"),
    "decision": ("context", "decision", "rationale", "consequences"),
}


def new_page(draft: Draft) -> NewPage | None:
    """Return the proposal of a new page, or None if no source has a line for any of its sections."""
    sections = _sections(draft)
    if not sections:
        return None
    return NewPage(
        draft.type, draft.title, sections, sentence_about(draft) or describe_page(draft), tuple(draft.aliases),
        tuple(tag for tag, _ in most_common(draft.tags)[:TAGS_MAX]), tuple(draft.promotes),
    )  # fmt: skip


def page_update(draft: Draft) -> PageUpdate | None:
    """Return the proposal to update a stored page, or None if there are neither new lines nor new names."""
    card = draft.card
    assert card is not None
    sections = _sections(draft)
    aliases = tuple(name for name in draft.aliases if normalise(name) not in card.aliases)
    tags = tuple(tag for tag, _ in most_common(draft.tags) if tag not in card.tags)[: max(0, TAGS_MAX - len(card.tags))]
    if not sections and not aliases:
        return None
    return PageUpdate(card.id, sections, sentence_about(draft), aliases, tags)


def _sections(draft: Draft) -> tuple[SectionProposal, ...]:
    """Return the sections with sources. A new page has no section that only repeats its first one."""
    subject = draft.subject
    proposals = (
        SectionProposal(slug, _sources(draft, subject, slug), HEADINGS[slug])
        for slug in SECTIONS.get(draft.type, ("notes",))
    )
    found = [proposal for proposal in proposals if proposal.source_ids]
    if draft.card or not found or found[0].slug not in LEADING:
        return tuple(found)
    cited = [reading.source for reading in draft.oldest_first if reading.source.id in found[0].source_ids]
    lead = lead_of(cited[::-1], subject)
    return tuple(
        proposal for proposal in found if proposal.slug in (*RELATED, *LEADING) or _adds(draft, proposal, lead)
    )


def _adds(draft: Draft, proposal: SectionProposal, lead: Sequence[EvidenceLine]) -> bool:
    """Return whether the section has a line that is not in the first section."""
    readings = (draft.readings[id] for id in proposal.source_ids)
    return any(is_new(entry, lead) for reading in readings for entry in entries(proposal.slug, reading, draft.subject))


def _sources(draft: Draft, subject: Subject, slug: str) -> tuple[UUID, ...]:
    """Return the sources to cite for the section, the oldest first.

    A first section cites only the sources that define the subject, or else the best one for a new section, and the last
    source that says how it is now. A related section cites the sources that relate the page to others.
    """
    if slug in RELATED:
        return tuple(reading.source.id for reading in draft.oldest_first if reading.source.id in draft.linking)
    readings = draft.oldest_first
    if slug not in ("overview", "summary"):
        return tuple(reading.source.id for reading in readings if entries(slug, reading, subject))
    found = [(reading, entries(slug, reading, subject)) for reading in readings]
    scored = [(said[0].score, reading.source.id) for reading, said in found if said]
    now = [reading.source.id for reading, said in found if any(entry.is_now for entry in said)][-1:]
    defining = [id for score, id in scored if score >= DEFINITION]
    if not defining and scored and not (draft.card and slug in draft.card.section_slugs):
        defining = [max(scored, key=lambda pair: pair[0])[1]]
    return tuple(dict.fromkeys((*defining, *now)))
