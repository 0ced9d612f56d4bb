"""Sightings of names in one source: decided by that source alone, so that neither order nor batches can matter."""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from content.normalization import INVISIBLE

from ..planner import SourceText
from . import metadata
from .capitals import HONORIFICS, PARTICLES, CapitalRun, runs
from .german_nouns import has_inner_capitals
from .language import DATES, EVERYWHERE, SAMPLE, STOPWORDS, language_of
from .marked import GAP, marks, without
from .spaceless import found, without_politeness
from .text import WORD, Sentence, TextLine, clean, folded, lines, normalised, padded, split

NAMES_MAX = 300  # of one source
WORDS_MAX = 6
LINKED_MIN = 3  # names that a source links by hand, from which on it does so with what matters
CAPITALS = frozenset({"name", "first", "bare", "open"})
LETTERS = re.compile(r"[^\W\d_]{2}|[\u3400-\u9fff\uac00-\ud7af]")
MARKED = re.compile(r"[`*_\[#@]|://|www\.|mailto:")
COMPOUND = re.compile(r"-[a-z]{3,}$")  # `Unix-like`
REGION = re.compile(r",\s")


@dataclass(slots=True)
class Sighting:
    """One name in one source: as it is first written, how it is marked, and the sentence that says it."""

    key: str
    name: str
    marks: set[str] = field(default_factory=set)
    is_person: bool = False
    context: str = ""


class Reading:
    """A source as it was read: its language, sentences, and the names that it sees."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.lines: tuple[TextLine, ...] = lines(source.content)
        self.phrases: frozenset[str] | None = None
        """Kept for `phrases`."""
        self.entries: dict[Any, Any] = {}
        self.decisions: Any = None
        """Kept for `evidence` and `decisions`."""
        self._saying: dict[frozenset[str], tuple[Sentence, ...]] = {}

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple(sentence for line in self.lines for sentence in line.sentences)

    def saying(self, names: frozenset[str]) -> tuple[Sentence, ...]:
        """Return the sentences that say one of these normalised names."""
        if names not in self._saying:
            wanted = [name for name in map(padded, names) if name in self._text]
            self._saying[names] = self._that_say(wanted)
        return self._saying[names]

    def _that_say(self, wanted: list[str]) -> tuple[Sentence, ...]:
        if len(wanted) == 1:
            (name,) = wanted
            return tuple([sentence for sentence in self.sentences if name in sentence.words])
        if not wanted:
            return ()
        return tuple(sentence for sentence in self.sentences if any(name in sentence.words for name in wanted))

    @cached_property
    def _text(self) -> str:
        return "\n".join(sentence.words for sentence in self.sentences)

    @cached_property
    def language(self) -> str:
        return language_of(self.source.content, map(str.lower, self._written[:SAMPLE]))

    @cached_property
    def words(self) -> str:
        """Return all normalised words of the sentences, and those of the metadata."""
        named = (folded(name) for _, name in self.named)
        return "".join([*(sentence.words for sentence in self.sentences), *named])

    @cached_property
    def all_words(self) -> str:
        """Return the normalised words of the whole text, headings and code among them, and of the metadata."""
        return f"{folded(self.source.content)}{''.join(folded(name) for _, name in self.named)}"

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(self.all_words.split())

    @cached_property
    def named(self) -> tuple[tuple[str, str], ...]:
        """Return the (kind, name) that the metadata give."""
        return tuple(metadata.named(self.source))

    @cached_property
    def metadata(self) -> dict[str, set[str]]:
        """Return by kind the normalised names that the metadata gives."""
        by_kind: dict[str, set[str]] = {}
        for kind, name in self.named:
            by_kind.setdefault(kind, set()).add(key_of(name, kind))
        return by_kind

    @cached_property
    def sightings(self) -> dict[str, Sighting]:
        """Return the sightings by key, in the order of the text."""
        seen: dict[str, Sighting] = {}
        for kind, name in self.named:
            _see(seen, name, kind, context=metadata.short(self.source.title) or "")
        for line in self.lines:
            if len(seen) > NAMES_MAX:
                break
            self._read(line, seen)
        for sighting in list(seen.values()):
            if sighting.is_person and (first := first_name(sighting.name, sighting.key)):
                _see(seen, sighting.name, "part", key=first, context=sighting.context, is_person=True)
        self.__dict__.pop("_written", None)  # no longer needed
        if sum("link" in sighting.marks for sighting in seen.values()) >= LINKED_MIN:
            _put_aside(seen.values())
        return seen

    def _read(self, line: TextLine, seen: dict[str, Sighting]) -> None:
        sentences = tuple(sentence.text for sentence in line.sentences)
        for kind, name in marks(line.raw):
            if len(name.split()) <= WORDS_MAX and LETTERS.search(name):
                _see(seen, clean(name).strip(" :;,.-–—"), kind, context=_holding(sentences, name))
        if MARKED.search(line.raw):
            sentences = tuple(split(clean(without(line.raw))))
        for written in sentences:
            self._read_sentence(written if written.isascii() else INVISIBLE.sub("", written), seen)

    def _read_sentence(self, sentence: str, seen: dict[str, Sighting]) -> None:
        context = sentence.replace(GAP, "…")
        for run in runs(sentence, self.language):
            if kind := self._kind(run):
                is_person = run.is_person and run.name.split()[0].lower() not in self._small
                _see(seen, run.name, kind, context=context, is_person=is_person)
        for name, is_person in found(sentence, self.language):
            _see(seen, name, "name", context=context, is_person=is_person)

    def _kind(self, run: CapitalRun) -> str | None:
        """Return `name` where a capital says that it is one, `open` where it may only begin a sentence."""
        name, opens, is_sure, acts = run.name, run.opens, run.is_sure, run.acts
        is_one = " " not in name
        if is_one and (
            name.lower() in self._small or (name.lower() in STOPWORDS.get(self.language, ()) and not name.isupper())
        ):
            return None
        if is_one and COMPOUND.search(name):
            return None
        if not is_sure:
            return None
        has_inner = has_inner_capitals(name)
        if opens and not has_inner:
            is_titled = name.split()[0].lower().rstrip(".") in HONORIFICS
            return ("name" if is_titled else "first") if not is_one else "open" if acts else None
        return "bare" if run.is_bare else "name" if not opens or has_inner else "first"

    @cached_property
    def _small(self) -> frozenset[str]:
        """Return the words that the source writes without a capital too: those are no names."""
        return frozenset(word for word in set(self._written) if word[0].islower())

    @cached_property
    def _written(self) -> list[str]:
        """Return its words, letter by letter as they are written."""
        return WORD.findall("\n".join(line.raw for line in self.lines))


def key_of(name: str, kind: str) -> str:
    """Return the name that it is held under; a city's is without its region, a Japanese person's without `さん`."""
    if kind == "person":
        return normalised(without_politeness(name))
    return normalised(REGION.split(name, maxsplit=1)[0] if kind == "city" else name)


def first_name(name: str, key: str) -> str | None:
    """Return the first name out of a name of two or three words, none of them small or a title."""
    words = name.split()
    if not 2 <= len(words) <= 3 or len(key.split()) != len(words):
        return None
    small = {word.lower().rstrip(".") for word in words}
    first = key.split()[0]
    if small & (HONORIFICS | PARTICLES) or not all(word[0].isupper() and word.isalpha() for word in words):
        return None
    return first if len(first) > 1 and first not in EVERYWHERE else None


def _see(
    seen: dict[str, Sighting], name: str, kind: str, *, key: str = "", context: str = "", is_person: bool = False
) -> None:
    key = key or key_of(name, kind)
    if not key or key in DATES or key.isdigit() or (kind not in metadata.NAMED and key in EVERYWHERE):
        return
    sighting = seen.setdefault(key, Sighting(key, name))
    if kind == "part":
        sighting.name = name
    sighting.marks.add(kind)
    sighting.is_person = sighting.is_person or is_person or kind == "person"
    sighting.context = sighting.context or context


def _put_aside(sightings: Iterable[Sighting]) -> None:
    """Mark names seen by capitals alone, except people's, as less important: the source links by hand what matters."""
    for sighting in sightings:
        if "name" in sighting.marks and sighting.marks <= CAPITALS and not sighting.is_person:
            sighting.marks = {"aside"}


def _holding(sentences: tuple[str, ...], name: str) -> str:
    return next((text for text in sentences if name in text), sentences[0] if sentences else "")


KEPT_MAX = 2_000_000  # characters of all sources whose readings are kept; a reading takes some hundred bytes for each
SHORT_MAX = 50_000  # characters of one


class Readings:
    """A cache of the last readings, of any wiki: a source has one text, and nothing else is in them."""

    def __init__(self) -> None:
        self.kept: OrderedDict[UUID, Reading] = OrderedDict()
        self.size = 0

    def of(self, source: SourceText) -> Reading:
        kept = self.kept.get(source.id)
        if kept is not None and (kept.source is source or kept.source == source):
            self.kept.move_to_end(source.id)
            return kept
        reading = Reading(source)
        if len(source.content) <= SHORT_MAX:
            self.keep(reading)
        return reading

    def keep(self, reading: Reading) -> None:
        self.forget(reading.source.id)
        self.kept[reading.source.id] = reading
        self.size += len(reading.source.content)
        while self.size > KEPT_MAX:
            self.forget(next(iter(self.kept)))

    def forget(self, source_id: UUID) -> None:
        if former := self.kept.pop(source_id, None):
            self.size -= len(former.source.content)


def keepable(sources: Iterable[SourceText]) -> Iterator[SourceText]:
    """Yield the first of these sources, while their readings take no more than half of the room."""
    size = 0
    for source in sources:
        if len(source.content) <= SHORT_MAX:
            size += len(source.content)
            if size > KEPT_MAX // 2:
                return
            yield source


KEPT = Readings()
reading_of = KEPT.of
