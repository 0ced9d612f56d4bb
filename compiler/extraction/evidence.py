"""The lines that one source has for one section of one page, each decided by that source alone.

Planner and writer ask the same question: the planner cites a source for a section where there is an answer, the writer
puts the answers of all cited sources together.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from content.names import normalise
from content.search.words import SPACELESS
from content.text_cache import cache_short

from ..planner import SourceText
from ..quoting import bullet
from .decisions import Decision, decisions, follows, minor_decisions
from .readings import Reading
from .texts import metadata
from .texts.sentence_scores import DEFINITION, ONLY_TAGS, UNDEFINED, is_state, score_sentence, telling
from .texts.text import LONGEST_WORD, Sentence, fold_text, former_pieces, normalised, parted

QUOTE_MIN = 12  # characters
QUOTES_MAX = 2  # sentences of one source, each a line of its own
HIGHLIGHT = 1.5
TELLS = 1.0  # the score of a second line of one day
UNNAMED = -1.0  # of a sentence that only stands in a note about it
ABOUT_TAGS = 4
FIRST_MAX = 5  # sentences of which one stands for a source that is about a topic and does not name it
TITLE_MAX = 80  # characters of a title that is shown before a sentence


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
    """One line: what a source says, in quotes. `key` is compared with other lines; `is_now` says how something is."""

    __slots__ = ("_line", "about", "is_now", "key", "own_day", "score", "source", "texts")

    def __init__(
        self,
        source: SourceText,
        texts: tuple[str, ...],
        score: float,
        key: str,
        about: str = "",
        *,
        is_now: bool = False,
        day: date | None = None,
    ) -> None:
        self.source, self.texts, self.score, self.key, self.about = source, texts, score, key, about
        self.is_now = is_now
        self.own_day = day
        self._line: str | None = None

    @property
    def day(self) -> date:
        return self.own_day or self.source.captured_at.date()

    @property
    def line(self) -> str:
        if self._line is None:
            self._line = bullet(self.source, self.texts, self.about, self.own_day)
        return self._line


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


def find_decision(reading: Reading, subject: Subject) -> Decision | None:
    """Return the decision that the page is about."""
    return next((one for one in decisions(reading) if normalise(one.title) in subject.names), None)


def _overview(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Return the sentence that says best what it is, and the last other one that says how it is."""
    said = _quotable(naming(reading, subject.names))
    scored = [(telling(one, subject.names, reading.language), one) for one in said]
    if not scored and subject.type == "topic":
        scored = [(UNNAMED, one) for one in _quotable(reading.sentences)[:1]]
    if not scored:
        return ()
    score, best = max(scored, key=lambda one: one[0])
    lead = _line(reading, best, subject, score)
    states = [one for tells, one in scored if one is not best and tells > 0 and is_state(one, subject.names)]
    states.sort(key=lambda one: one.day or date.min)
    now = [_line(reading, one, subject, UNDEFINED, is_now=True) for one in states[-1:]]
    if score < DEFINITION and is_state(best, subject.names):
        now.append(_line(reading, best, subject, UNDEFINED, is_now=True))
    return (lead, *now)


def _notes(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Quote what a source says of the page, except for visits, which have a section of their own."""
    if subject.type == "entity" and is_tagged(reading, subject, "place"):
        return ()
    said = naming(reading, subject.names)
    if not said and is_tagged(reading, subject, "project"):
        said = reading.sentences[:1]
    return (*(best := _best(reading, said, subject)), *_decided(reading, subject, best))


def _decided(reading: Reading, subject: Subject, quoted: Iterable[EvidenceLine]) -> Iterator[EvidenceLine]:
    """Yield a whole sentence for each decision about the page that has none of its own, unless it is quoted."""
    said, keys = naming(reading, subject.names), {line.key for line in quoted}
    is_about = is_tagged(reading, subject, "title", "project", "person", "place")
    for one in minor_decisions(reading):
        near = (*one.before[-1:], one.sentence)
        if one.sentence.words not in keys and (is_about or any(sentence in said for sentence in near)):
            yield _line(reading, one.sentence, subject, score_sentence(one.sentence, subject.names, reading.language))


def _visits(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    if not is_tagged(reading, subject, "place"):
        return ()
    return _best(reading, reading.sentences, subject, _circumstances(reading.source))


def _highlights(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    best: dict[date, EvidenceLine] = {}
    for entry in _about(reading, subject):
        best.setdefault(entry.day, entry)
    return tuple(entry for entry in best.values() if entry.score >= HIGHLIGHT)


def _recent(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    place = next(iter(metadata.texts(reading.source.metadata, "place")), "")
    return (*(best := _about(reading, subject, place)), *_decided(reading, subject, best))


def _about(reading: Reading, subject: Subject, place: str = "") -> tuple[EvidenceLine, ...]:
    """Return what a source says of a topic; where it does not name it, a sentence behind the title of the source."""
    if said := naming(reading, subject.names):
        return _best(reading, said, subject, place)
    return _best(reading, _tagged(reading, subject), subject, place or _title(reading))


def _best(reading: Reading, said: Iterable[Sentence], subject: Subject, about: str = "") -> tuple[EvidenceLine, ...]:
    """Return the sentences of each day that say most, the best first, each once."""
    found = _quotable(said) or list(said)
    scored = [(score_sentence(one, subject.names, reading.language), -place, one) for place, one in enumerate(found)]
    lines: dict[str, EvidenceLine] = {}
    of_day: Counter[date | None] = Counter()
    for score, _, one in sorted(scored, key=lambda one: one[:2], reverse=True):
        enough = score >= (TELLS if of_day[one.day] else 0)
        if ONLY_TAGS.fullmatch(one.text):
            break
        if of_day[one.day] < QUOTES_MAX and (enough or not lines) and one.words not in lines:
            lines[one.words] = _line(reading, one, subject, score, about)
            of_day[one.day] += 1
    return tuple(lines.values())


def _line(
    reading: Reading, sentence: Sentence, subject: Subject, score: float, about: str = "", *, is_now: bool = False
) -> EvidenceLine:
    """Return a line of one sentence; of a conversation with who says it, unless the page is theirs.

    One that only says the name is quoted with the sentence behind it: `“Heat pump.” “The quote came in at 14k.”`
    """
    quoted = [sentence]
    if sentence.words.strip() in subject.names and (following := reading.following(sentence)):
        quoted.append(following)
    texts, words = tuple(one.text for one in quoted), "".join(one.words for one in quoted)
    about = about or _speaker(sentence, subject)
    return EvidenceLine(reading.source, texts, score, words, about, is_now=is_now, day=sentence.day)


def _speaker(sentence: Sentence, subject: Subject) -> str:
    """Return who says a sentence, unless the page is theirs."""
    return "" if sentence.speaker and normalised(sentence.speaker) in subject.names else sentence.speaker


def _context(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = find_decision(reading, subject)
    return _quotes(reading, decision.before) if decision else ()


def _decision(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = find_decision(reading, subject)
    return _quotes(reading, (decision.sentence,)) if decision else ()


def _rationale(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = find_decision(reading, subject)
    if decision is None or not decision.why:
        return ()
    return (EvidenceLine(reading.source, (decision.why,), 0.0, decision.why, day=decision.sentence.day),)


def _consequences(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    decision = find_decision(reading, subject)
    if decision:
        return _quotes(reading, decision.after)
    return _quotes(reading, [one for one in naming(reading, subject.names) if follows(one)])


def _quotes(reading: Reading, said: Iterable[Sentence], about: str = "") -> tuple[EvidenceLine, ...]:
    """Return one line with the first sentences."""
    said = list(said)
    chosen = (_quotable(said) or said)[:QUOTES_MAX]
    if not chosen:
        return ()
    if about := chosen[0].speaker or about:  # one line quotes one speaker
        chosen = [one for one in chosen if one.speaker == chosen[0].speaker]
    texts = tuple(one.text for one in chosen)
    words = " ".join(one.words for one in chosen)
    return (EvidenceLine(reading.source, texts, 0.0, words, about, day=chosen[0].day),)


def former_lines(slug: str, reading: Reading, subject: Subject) -> Iterator[str]:
    """Yield the lines that former versions wrote: of the first sentences of a source together, all of its day."""
    said: Sequence[Sentence] = naming(reading, subject.names)
    about = ""
    if slug == "visits":
        said, about = reading.sentences, _circumstances(reading.source)
    for chosen in (_quotable(said)[:QUOTES_MAX], _quotable(said)[:1]):
        if chosen:
            yield bullet(reading.source, tuple(one.text for one in chosen), about)
    for one in said:
        for text in former_pieces(one.text):
            yield bullet(reading.source, (text,), _speaker(one, subject), one.day)
        if one.day:
            yield bullet(reading.source, (one.text,), _speaker(one, subject))
    if not said and slug in ("highlights", "recent"):
        for one in reading.sentences[:1]:
            yield _line(reading, one, subject, 0.0).line


def _quotable(said: Iterable[Sentence]) -> list[Sentence]:
    return [one for one in said if len(one.text) >= QUOTE_MIN or (not one.text.isascii() and len(one.text) >= 4)]


def _tagged(reading: Reading, subject: Subject) -> Sequence[Sentence]:
    """Return the best of the first sentences of a source tagged with the topic: a note that is about it need not say
    its name.
    """
    if not is_tagged(reading, subject, "tag", "city", "journal", "title", "project", "place"):
        return ()
    first = _quotable(reading.sentences)[:FIRST_MAX] or reading.sentences[:1]
    return sorted(first, key=lambda one: -score_sentence(one, subject.names, reading.language))[:1]


def _title(reading: Reading) -> str:
    """Return the title of a source, which says what a sentence is about that does not name the page."""
    title = metadata.short_name(reading.source.title) or ""
    return title if len(title) <= TITLE_MAX else ""


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
    return any(name in _folded_words(word) for word in parted(sentence.text).split() if not word.islower())


@cache_short(20_000, LONGEST_WORD)
def _folded_words(word: str) -> tuple[str, ...]:
    """Return the folded words of a word that begins with a capital, without the punctuation around it."""
    bare = word.strip(".,;:!?()“”\"'’«»")
    return tuple(fold_text(bare).split()) if bare[:1].isupper() else ()
