"""The lines that one source has for one section of one page, each decided by that source alone.

Planner and writer ask the same question: the planner cites a source for a section where there is an answer, the writer
puts the answers of all cited sources together.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from content.names import normalise
from content.search.words import SPACELESS

from ..planner import SourceText
from . import metadata
from .decisions import Decision, decisions, follows
from .quoting import bullet
from .sightings import Reading
from .text import Sentence, folded, padded

QUOTE_MIN, QUOTE_GOOD = 12, (40, 220)
QUOTES_MAX = 2
DEFINITION = 3.0  # the score from which on a sentence says what something is
UNNAMED = -1.0  # of a sentence that only stands in a note about it
HIGHLIGHT = 1.5
ABOUT_TAGS = 4

COPULA = re.compile(
    r"^(?: \w+){0,3}? (?:is|are|was|e|sao|era|es|son|est|sont|ist|sind|war|sono|is een) (?:an?|the|one|um|"
    r"uma|o|a|une?|la|le|les|las|el|los|eine?n?|"
    r"der|die|das|il|my|our|his|her|their|mein|meine|unser|unsere|mon|ma|notre|nos|meu|minha|nosso|nossa|"
    r"mi|nuestro|nuestra|where|when)\b"
)
COPULA_SPACELESS = re.compile(
    "^ ?(?:就?是(?!不|否|很|因|在|我们去)|为一|とは|は[^。]{2,60}(?:です|である|だ)|เป็น|คือ|은 |는 )"
)
SPECIFIC = re.compile(
    r"\d|\b(?:best|worst|favou?rite|first|only|never|always|meilleur|beste|melhor|mejor)\b|最|一番|初めて|第一次",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """The page that a section belongs to: its type, title and normalised names. `subject_of` makes one of each."""

    type: str
    title: str
    names: frozenset[str]


@lru_cache(maxsize=10_000)
def subject_of(type: str, title: str, names: frozenset[str]) -> Subject:
    """Return one object for equal subjects: a subject is looked up for each source of each section, by its value."""
    return Subject(type, title, names)


class EvidenceLine:
    """One line: what a source says, in quotes. Of two with the same words the better score stays; `key` is compared."""

    def __init__(self, source: SourceText, texts: tuple[str, ...], score: float, key: str, about: str = "") -> None:
        self.source, self.texts, self.score, self.key, self.about = source, texts, score, key, about

    @cached_property
    def line(self) -> str:
        return bullet(self.source, self.texts, self.about)


Evidence = Callable[[Reading, Subject], tuple[EvidenceLine, ...]]


def entries(slug: str, reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Return the lines of one source for one section; none where it has nothing to say there."""
    found: tuple[EvidenceLine, ...] | None = reading.entries.get((slug, subject))
    if found is None:
        found = reading.entries[slug, subject] = EVIDENCE.get(slug, _notes)(reading, subject)
    return found


def naming(reading: Reading, names: Iterable[str]) -> Sequence[Sentence]:
    """Return the sentences that say one of these names."""
    return reading.saying(frozenset(names))


def is_tagged(reading: Reading, subject: Subject, *kinds: str) -> bool:
    """Return whether the metadata says that the source is about the page."""
    given = reading.metadata
    return any(not subject.names.isdisjoint(given.get(kind, ())) for kind in kinds)


def definition(sentence: Sentence, names: Iterable[str]) -> float:
    """Score how well a sentence says what the thing is: `X is a …` scores DEFINITION or more."""
    best = 0.0
    good = QUOTE_GOOD[0] <= len(sentence.text) <= QUOTE_GOOD[1]
    for name in names:
        spaceless = SPACELESS.search(name)
        wanted = padded(name)
        at = sentence.words.find(wanted)
        if at < 0:
            continue
        rest = sentence.words[at + len(wanted) - (0 if spaceless else 1) :]
        defines = (COPULA_SPACELESS if spaceless else COPULA).match(rest) or (spaceless and COPULA.match(rest))
        is_first = at < 6
        is_question = sentence.text.endswith(("?", "？"))
        best = max(
            best,
            DEFINITION * bool(defines and is_first and not is_question)
            + is_first
            + good
            + 0.5 * bool(spaceless and not good),
        )
    return best


def found_decision(reading: Reading, subject: Subject) -> Decision | None:
    """Return the decision that the page is about."""
    return next((one for one in decisions(reading) if normalise(one.title) in subject.names), None)


def _overview(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    found = [(definition(one, subject.names), one) for one in _quotable(naming(reading, subject.names))]
    if not found and subject.type == "topic":
        found = [(UNNAMED, one) for one in _quotable(reading.sentences)[:1]]
    if not found:
        return ()
    score, sentence = max(found, key=lambda one: one[0])
    return (EvidenceLine(reading.source, (sentence.text,), score, sentence.words),)


def _notes(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Quote what a source says of the page, except for visits, which have a section of their own."""
    if subject.type == "entity" and is_tagged(reading, subject, "place"):
        return ()
    return _quotes(reading, naming(reading, subject.names))


def _visits(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    if not is_tagged(reading, subject, "place"):
        return ()
    return _quotes(reading, reading.sentences, _circumstances(reading.source))


def _highlights(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    said = naming(reading, subject.names) or _tagged(reading, subject)
    scored = [(_worth(one), one) for one in _quotable(said)]
    score, best = max(scored, key=lambda one: one[0], default=(0.0, None))
    return (EvidenceLine(reading.source, (best.text,), score, best.words),) if best and score >= HIGHLIGHT else ()


def _recent(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    said = naming(reading, subject.names) or _tagged(reading, subject)
    place = next(iter(metadata.texts(reading.source.metadata, "place")), "")
    return _quotes(reading, said[:1], place)


def _context(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = found_decision(reading, subject)
    return _quotes(reading, decision.before) if decision else ()


def _decision(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = found_decision(reading, subject)
    return _quotes(reading, (decision.sentence,)) if decision else ()


def _rationale(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = found_decision(reading, subject)
    return (EvidenceLine(reading.source, (decision.why,), 0.0, decision.why),) if decision and decision.why else ()


def _consequences(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = found_decision(reading, subject)
    if decision:
        return _quotes(reading, decision.after)
    return _quotes(reading, [one for one in naming(reading, subject.names) if follows(one)])


def _quotes(reading: Reading, said: Iterable[Sentence], about: str = "") -> tuple[EvidenceLine, ...]:
    """Return one line with the first sentences."""
    chosen = (_quotable(said) or list(said))[:QUOTES_MAX]
    if not chosen:
        return ()
    texts = tuple(one.text for one in chosen)
    return (EvidenceLine(reading.source, texts, 0.0, " ".join(one.words for one in chosen), about),)


def _quotable(said: Iterable[Sentence]) -> list[Sentence]:
    return [one for one in said if len(one.text) >= QUOTE_MIN or (not one.text.isascii() and len(one.text) >= 4)]


def _tagged(reading: Reading, subject: Subject) -> Sequence[Sentence]:
    """Return the first sentence of a source tagged with the topic: a note that is about it need not say its name."""
    about = is_tagged(reading, subject, "tag", "city", "journal", "title", "project", "place")
    return reading.sentences[:1] if about else ()


def _worth(sentence: Sentence) -> float:
    text = sentence.text
    names = sum(word[0].isupper() for word in text.split()[1:])
    good = QUOTE_GOOD[0] <= len(text) <= QUOTE_GOOD[1] or not text.isascii()
    return bool(good) + min(names, 2) * 0.5 + bool(SPECIFIC.search(text)) - 2 * text.endswith(("?", "？"))


def _circumstances(source: SourceText) -> str:
    """Return the city and tags: `Lisbon, food`"""
    return ", ".join([*metadata.cities(source.metadata)[:1], *metadata.tags(source)[:ABOUT_TAGS]])


EVIDENCE: dict[str, Evidence] = {
    "overview": _overview,
    "summary": _overview,
    "notes": _notes,
    "visits": _visits,
    "highlights": _highlights,
    "recent": _recent,
    "context": _context,
    "decision": _decision,
    "rationale": _rationale,
    "consequences": _consequences,
}


def says_capital(sentence: Sentence, name: str) -> bool:
    """Return whether a name of one word is written as a name; always so in scripts without capitals."""
    if SPACELESS.search(name):
        return True
    return any(name in _folded_words(word) for word in sentence.text.split() if not word.islower())


@lru_cache(maxsize=20_000)
def _folded_words(word: str) -> tuple[str, ...]:
    """Return the folded words of a word that begins with a capital, without the punctuation around it."""
    bare = word.strip(".,;:!?()“”\"'’«»")
    return tuple(folded(bare).split()) if bare[:1].isupper() else ()
