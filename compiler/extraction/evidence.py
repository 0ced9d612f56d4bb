"""The evidence lines that one source has for one section of a page, which depend on that source alone.

The planner cites a source for a section if it has lines for it. The writer combines the lines of all cited sources.
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
from .decisions.decisions import Decision, decisions, follows, minor_decisions
from .readings import Reading
from .texts import metadata
from .texts.sentence_scores import DEFINITION, ONLY_TAGS, UNDEFINED, is_state, score_sentence, telling
from .texts.text import LONGEST_WORD, Sentence, fold_text, former_pieces, normalised, parted, unjoined_lines

QUOTE_MIN = 12  # characters
QUOTES_MAX = 2  # sentences of one source and day, each a line of its own
HIGHLIGHT = 1.5  # the minimum score of a highlight
SECOND_MIN = 1.0  # the minimum score of a second line of one day
UNNAMED = -1.0  # the score of a sentence that does not name the topic, in a source about it
ABOUT_TAGS = 4  # tags before a quote of a visit
FIRST_MAX = 5  # first sentences from which one is quoted if a source about a topic does not name it
TITLE_MAX = 80  # characters of a source's title before a sentence


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """The page of a section: its type, title and normalised names. Create it with `subject_of`, as it has no
    equality."""

    type: str
    title: str
    names: frozenset[str]


@lru_cache(maxsize=10_000)
def subject_of(type: str, title: str, names: frozenset[str]) -> Subject:
    """Return the subject. Equal arguments return the same object, which makes it a cheap key of stored results."""
    return Subject(type, title, names)


class EvidenceLine:
    """One line of a section, which quotes one source.

    `key` is compared with the keys of other lines to find repetitions. `about` stands before the quote. `is_now` is
    true if the line says how something is now.
    """

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
        """Return the line in markdown."""
        if self._line is None:
            self._line = bullet(self.source, self.texts, self.about, self.own_day)
        return self._line


Evidence = Callable[[Reading, Subject], tuple[EvidenceLine, ...]]


def entries(slug: str, reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Return the lines of one source for one section, none if it says nothing for it."""
    found: tuple[EvidenceLine, ...] | None = reading.entries.get((slug, subject))
    if found is None:
        found = reading.entries[slug, subject] = EVIDENCE.get(slug, _notes)(reading, subject)
    return found


def naming(reading: Reading, names: Iterable[str]) -> Sequence[Sentence]:
    """Return the sentences that contain one of these names."""
    return reading.saying(frozenset(names))


def is_tagged(reading: Reading, subject: Subject, *kinds: str) -> bool:
    """Return whether the metadata says that the source is about the page."""
    named = reading.metadata
    return any(not subject.names.isdisjoint(named.get(kind, ())) for kind in kinds)


def find_decision(reading: Reading, subject: Subject) -> Decision | None:
    """Return the decision of the source that the page is about."""
    return next((decision for decision in decisions(reading) if normalise(decision.title) in subject.names), None)


def _overview(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Return the sentence that best says what the subject is, and the last other sentence that says how it is now."""
    sentences = _quotable(naming(reading, subject.names))
    scored = [(telling(sentence, subject.names, reading.language), sentence) for sentence in sentences]
    if not scored and subject.type == "topic":
        scored = [(UNNAMED, sentence) for sentence in _quotable(reading.sentences)[:1]]
    if not scored:
        return ()
    score, best = max(scored, key=lambda pair: pair[0])
    lead = _line(reading, best, subject, score)
    states = [
        sentence
        for points, sentence in scored
        if sentence is not best and points > 0 and is_state(sentence, subject.names)
    ]
    states.sort(key=lambda sentence: sentence.day or date.min)
    now = [_line(reading, sentence, subject, UNDEFINED, is_now=True) for sentence in states[-1:]]
    if score < DEFINITION and is_state(best, subject.names):
        now.append(_line(reading, best, subject, UNDEFINED, is_now=True))
    return (lead, *now)


def _notes(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Return quotes about the page. Notes of a visit to the place have the section `visits` instead."""
    if subject.type == "entity" and is_tagged(reading, subject, "place"):
        return ()
    sentences = naming(reading, subject.names)
    if not sentences and is_tagged(reading, subject, "project"):
        sentences = reading.sentences[:1]
    return (*(best := _best(reading, sentences, subject)), *_decided(reading, subject, best))


def _decided(reading: Reading, subject: Subject, quoted: Iterable[EvidenceLine]) -> Iterator[EvidenceLine]:
    """Yield the sentences of minor decisions about the page that are not quoted yet."""
    sentences, keys = naming(reading, subject.names), {line.key for line in quoted}
    is_about = is_tagged(reading, subject, "title", "project", "person", "place")
    for decision in minor_decisions(reading):
        sentence = decision.sentence
        near = (*decision.before[-1:], sentence)
        if sentence.words not in keys and (is_about or any(one in sentences for one in near)):
            yield _line(reading, sentence, subject, score_sentence(sentence, subject.names, reading.language))


def _visits(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Return the best sentences of a note about a visit to the place."""
    if not is_tagged(reading, subject, "place"):
        return ()
    return _best(reading, reading.sentences, subject, _circumstances(reading.source))


def _highlights(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Return the best sentence of each day about a topic, if its score is high enough."""
    best: dict[date, EvidenceLine] = {}
    for entry in _about(reading, subject):
        best.setdefault(entry.day, entry)
    return tuple(entry for entry in best.values() if entry.score >= HIGHLIGHT)


def _recent(reading: Reading, subject: Subject) -> tuple[EvidenceLine, ...]:
    """Return the best sentences about a topic, after the place of the source, and the minor decisions about it."""
    place = next(iter(metadata.texts(reading.source.metadata, "place")), "")
    return (*(best := _about(reading, subject, place)), *_decided(reading, subject, best))


def _about(reading: Reading, subject: Subject, place: str = "") -> tuple[EvidenceLine, ...]:
    """Return the best sentences about a topic. If none names it, return one after the place or the title of the
    source."""
    if sentences := naming(reading, subject.names):
        return _best(reading, sentences, subject, place)
    return _best(reading, _tagged(reading, subject), subject, place or _title(reading))


def _best(
    reading: Reading, sentences: Iterable[Sentence], subject: Subject, about: str = ""
) -> tuple[EvidenceLine, ...]:
    """Return at most QUOTES_MAX sentences of each day with the highest scores, the best first, each once."""
    found = _quotable(sentences) or list(sentences)
    scored = [
        (score_sentence(sentence, subject.names, reading.language), -place, sentence)
        for place, sentence in enumerate(found)
    ]
    lines: dict[str, EvidenceLine] = {}
    of_day: Counter[date | None] = Counter()
    for score, _, sentence in sorted(scored, key=lambda ranked: ranked[:2], reverse=True):
        is_enough = score >= (SECOND_MIN if of_day[sentence.day] else 0)
        if ONLY_TAGS.fullmatch(sentence.text):
            break
        if of_day[sentence.day] < QUOTES_MAX and (is_enough or not lines) and sentence.words not in lines:
            lines[sentence.words] = _line(reading, sentence, subject, score, about)
            of_day[sentence.day] += 1
    return tuple(lines.values())


def _line(
    reading: Reading, sentence: Sentence, subject: Subject, score: float, about: str = "", *, is_now: bool = False
) -> EvidenceLine:
    """Return the line for one sentence. In a conversation it names the speaker, unless the page is about the speaker.

    A sentence that only says the name is quoted with the next one: `“Heat pump.” “The quote came in at 14k.”`
    """
    quoted = [sentence]
    if sentence.words.strip() in subject.names and (following := reading.following(sentence)):
        quoted.append(following)
    texts, words = tuple(one.text for one in quoted), "".join(one.words for one in quoted)
    about = about or _speaker(sentence, subject)
    return EvidenceLine(reading.source, texts, score, words, about, is_now=is_now, day=sentence.day)


def _speaker(sentence: Sentence, subject: Subject) -> str:
    """Return the speaker of a sentence, or an empty string if the page is about the speaker."""
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
    return _quotes(reading, [sentence for sentence in naming(reading, subject.names) if follows(sentence)])


def _quotes(reading: Reading, sentences: Iterable[Sentence], about: str = "") -> tuple[EvidenceLine, ...]:
    """Return one line that quotes the first QUOTES_MAX sentences."""
    sentences = list(sentences)
    chosen = (_quotable(sentences) or sentences)[:QUOTES_MAX]
    if not chosen:
        return ()
    if about := chosen[0].speaker or about:  # a line quotes one speaker only
        chosen = [sentence for sentence in chosen if sentence.speaker == chosen[0].speaker]
    texts = tuple(sentence.text for sentence in chosen)
    words = " ".join(sentence.words for sentence in chosen)
    return (EvidenceLine(reading.source, texts, 0.0, words, about, day=chosen[0].day),)


def former_lines(slug: str, reading: Reading, subject: Subject) -> Iterator[str]:
    """Yield the lines that former versions of Cairn wrote, which the writer replaces as well.

    They quoted the first sentences of a source together, and all had the day of the source. Later ones read each line
    of a wrapped text by itself, and quoted character references as they are written.
    """
    if (lines := unjoined_lines(reading.source.content)) != reading.lines:
        former = Reading(reading.source)
        former.lines = lines
        yield from (entry.line for entry in entries(slug, former, subject))
    sentences: Sequence[Sentence] = naming(reading, subject.names)
    about = ""
    if slug == "visits":
        sentences, about = reading.sentences, _circumstances(reading.source)
    for chosen in (_quotable(sentences)[:QUOTES_MAX], _quotable(sentences)[:1]):
        if chosen:
            yield bullet(reading.source, tuple(sentence.text for sentence in chosen), about)
    for sentence in sentences:
        for text in former_pieces(sentence.text):
            yield bullet(reading.source, (text,), _speaker(sentence, subject), sentence.day)
        if sentence.day:
            yield bullet(reading.source, (sentence.text,), _speaker(sentence, subject))
    if not sentences and slug in ("highlights", "recent"):
        for sentence in reading.sentences[:1]:
            yield _line(reading, sentence, subject, 0.0).line


def _quotable(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return the sentences that are long enough to be quoted."""
    return [
        sentence
        for sentence in sentences
        if len(sentence.text) >= QUOTE_MIN or (not sentence.text.isascii() and len(sentence.text) >= 4)
    ]


def _tagged(reading: Reading, subject: Subject) -> Sequence[Sentence]:
    """Return the best of the first sentences of a source whose metadata names the topic, as its text may not name
    it."""
    if not is_tagged(reading, subject, "tag", "city", "journal", "title", "project", "place"):
        return ()
    first = _quotable(reading.sentences)[:FIRST_MAX] or reading.sentences[:1]
    return sorted(first, key=lambda sentence: -score_sentence(sentence, subject.names, reading.language))[:1]


def _title(reading: Reading) -> str:
    """Return the title of a source, to be shown before a sentence that does not name the page, or "" if it is long."""
    title = metadata.short_name(reading.source.title) or ""
    return title if len(title) <= TITLE_MAX else ""


def _circumstances(source: SourceText) -> str:
    """Return the city and the first tags of a source: `Lisbon, food`"""
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
    """Return whether a sentence writes a one-word name with a capital. In scripts without capitals this is always
    so."""
    if SPACELESS.search(name):
        return True
    return any(name in _folded_words(word) for word in parted(sentence.text).split() if not word.islower())


@cache_short(20_000, LONGEST_WORD)
def _folded_words(word: str) -> tuple[str, ...]:
    """Return the folded words of a word without its punctuation if it begins with a capital, or else nothing."""
    word = word.strip(".,;:!?()“”\"'’«»")
    return tuple(fold_text(word).split()) if word[:1].isupper() else ()
