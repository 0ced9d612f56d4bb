"""Sightings of names in one source: decided by that source alone, so that neither order nor batches can matter."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from content.normalization import INVISIBLE
from content.search.words import SPACELESS

from ..planner import SourceText
from . import metadata
from .capitals import FAMILIAR, HONORIFICS, IMPERATIVES, PARTICLES, PRESS, CapitalRun, runs
from .german_nouns import explained, has_inner_capitals
from .language import DATES, EVERYWHERE, KINDS, SAMPLE, STOPWORDS, language_of, word_set
from .language import SPACELESS as SPACELESS_LANGUAGES
from .marked import GAP, marks, without
from .spaceless import found, without_politeness
from .subjects import GENERIC, subjects
from .text import WORD, Sentence, TextLine, clean, folded, lines, normalised, padded, split

NAMES_MAX = 300  # of one source
WORDS_MAX = 6
OPENING_MIN = 4  # letters of a word that begins a sentence without doing anything in it
LINKED_MIN = 3  # names that a source links by hand, from which on it does so with what matters
CAPITALS = frozenset({"name", "first", "bare", "open"})
CENTRAL = frozenset({"place", "city", "person", "project", "journal", "title", "titled", "subject"})
FIRMS = word_set(
    """
    bank service services group gmbh ag kg se inc ltd llc plc corp corporation company labs lab studio studios airlines
    insurance systems software technologies solutions consulting partners logistics foundation versicherung stiftung
    """
)
# Somebody goes there or comes from there, and no more is said of it.
PASSING = re.compile(
    r"\b(?:go|goes|going|went|gone|come|comes|came|back|return(?:s|ed)?|travel(?:s|led|ed)?|dr(?:ive|ives|ove)|fl(?:y|ies|ew)"
    r"|walk(?:s|ed)?|ride|rode|train|bus|flight|fahren|fährt|fuhren|fuhr|reise|flogen|flog|zurück)"
    r" (?:\w+ )?(?:to|from|nach|aus) (?:the )?$",
    re.IGNORECASE,
)
NAMING = frozenset({"name", "first"})
SHORT_FORM_MIN = 4  # letters
WEIGHTY = 3  # sentences of one source that say a name
LISTED_MIN = 8  # names of one sentence that only lists them
LETTERS = re.compile(r"[^\W\d_]{2}|[\u3400-\u9fff\uac00-\ud7af]")
LATIN_EDGE = re.compile(r"(?<=[^\W\d_a-zA-Z])(?=[A-Za-z])|(?<=[A-Za-z\d])(?=[^\W\d_a-zA-ZÀ-ɏ])")  # `用Hugo写`
MARKED = re.compile(r"[`*_\[#@]|://|www\.|mailto:")
# Two names as one: the title of a work, where a source has that title.
JOINED = re.compile(r"(?<!, )\b(?P<whole>(?P<left>[A-Z]\w+) (?:and|&|et|y|e) (?P<right>[A-Z]\w+))")
# Before the names of those who were there, or were not, in minutes.
ATTENDING = re.compile(
    r"\W{0,4}(?:attend(?:ees|ing|ed)|attendance|present|participants|apologies|regrets|absent|excused|"
    r"anwesend|anwesende|teilnehmer(?:innen|\*innen)?|teilnehmende|entschuldigt|abwesend|gäste|présents?|participants?|"
    r"absents?|excusés?|presentes|ausentes|participantes|asistentes|presenti|assenti|"
    r"出席|出席者|欠席者?|参加者|与会者?|與會者?|缺席|请假)\W{0,4}[:：]",
    re.IGNORECASE,
)
ATTENDEE_END = re.compile(r"[,;，、；/]| (?:and|und|et|e|y|og|en) | ?[&+] ?")
BRACKETS = re.compile(r"\([^()]{0,60}\)|（[^（）]{0,60}）")
COMPOUND = re.compile(r"-[a-z]{3,}$")  # `Unix-like`
REGION = re.compile(r",\s")
SMALL = re.compile(r"\b[a-zß-ÿ]{4}|[\u3040-\u9fff]")  # what a title holds in which capitals mean something
SERIES = re.compile(r"^[^\W\d_]{2,20} ?[#№]?\d{1,5} ?[:.–—-] +")  # `ADR 12: `
DOING = re.compile(r"^[A-Z]\w{2,}ing (?=[A-Z])")  # `Writing Linkfold`
FIRM = re.compile(r"(?:Firma|Fa\.) (?=\S)")  # before the name of one
WHERE = re.compile(r"(?:^|\s)(?:in|into|nach|aus|en|em|à)(?: the| der| dem)? $", re.IGNORECASE)
ARTICLE = re.compile(r"^(?:the|an?|der|die|das|le|la|les|el|los|las|os?|il|lo) (?=\S)")


@dataclass(slots=True)
class Sighting:
    """One name in one source: as it is first written, how it is marked, and the sentence that says it."""

    key: str
    name: str
    marks: set[str] = field(default_factory=set)
    is_person: bool = False
    context: str = ""
    said: int = 0
    """The number of sentences that say it as a name."""
    listed: int = 0
    """How many of them only list it among many."""
    passed: int = 0
    """How many of them only say that somebody or something came from there, or goes there."""
    where: int = 0
    """How many of them say that something is in it, or goes there."""
    days: int = 1
    """The number of days whose entries in this source say it: a journal or a chat may be one file."""

    @property
    def weight(self) -> float:
        """Return how much the source says of it: 1 for a sentence, 2 where it is about it, less in passing."""
        if self.said >= WEIGHTY or not CENTRAL.isdisjoint(self.marks):
            return 2.0
        if self.marks == {"noun"}:
            return 0.5
        if self.said == self.passed == 1 and self.marks == {"name"} and not self.is_person:
            return 0.75
        return 0.5 if 0 < self.said == self.listed and self.marks <= CAPITALS | {"aside"} else 1.0


class Reading:
    """A source as it was read: its language, sentences, and the names that it sees."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.lines: tuple[TextLine, ...] = lines(source.content)
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

    def _alone(self, name: str, longer: Sequence[str]) -> tuple[Sentence, ...]:
        """Return the sentences that say a name outside of these longer ones."""
        wanted = padded(name)
        return tuple(one for one in self._that_say([wanted]) if wanted in _without(one.words, longer))

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
            _see(seen, name, kind, context=metadata.short_name(self.source.title) or "")
        self._read_titles(seen)
        for line in self.lines:
            if len(seen) > NAMES_MAX:
                break
            self._read(line, seen)
        _know_people(seen)
        for sighting in list(seen.values()):
            if (sighting.is_person or _may_be_person(sighting)) and (first := first_name(sighting.name, sighting.key)):
                _see(seen, sighting.name, "part", key=first, context=sighting.context, is_person=sighting.is_person)
        self.__dict__.pop("_written", None)  # no longer needed
        linked = sum("link" in sighting.marks for sighting in seen.values())
        if linked >= LINKED_MIN:
            _put_aside(seen.values())
        if not linked:
            for short, sighting in _short_forms(seen):
                if part := _see(seen, sighting.name, "part", key=short, context=sighting.context):
                    part.marks.add("short")
            marked = "\n".join(key for key, sighting in seen.items() if sighting.marks & {"work", "name", "quote"})
            people = [key for key, one in seen.items() if one.is_person and len(key) > 1 and SPACELESS.search(key)]
            for name, context, is_about in subjects(self):
                is_name = name in marked or any(name.startswith(one) for one in people)
                holding = _holding_names(seen, normalised(name))
                is_inside = bool(holding) and not self._alone(normalised(name), holding)
                if name in seen or not (is_inside or (SPACELESS.search(name) and is_name)):
                    _see(seen, name, "subject" if is_about else "noun", context=context)
        titles = "\n".join(map(folded, self._titles))
        for key, sighting in seen.items() if titles else ():
            is_word = sighting.marks <= {"title", "noun"} or key in GENERIC.get(self.language, ())
            if padded(key) in titles and not is_word:
                sighting.marks.add("titled")
        if len({sentence.day for sentence in self.sentences}) > 1:
            for key, sighting in seen.items():
                longer = () if "part" in sighting.marks else _holding_names(seen, key)
                said = self._alone(key, longer) if longer else self._that_say([padded(key)])
                spoken = (one.day for one in self.sentences if one.speaker == sighting.name)
                sighting.days = max(1, len({*(one.day for one in said), *spoken} - {None}))
        return seen

    @cached_property
    def _titles(self) -> tuple[str, ...]:
        """Return its title and the heading above all text, without the number that it has in a series."""
        heading = self.lines[0].heading if self.lines else ""
        found = filter(None, (metadata.short_name(self.source.title), clean(heading)))
        return tuple(dict.fromkeys(SERIES.sub("", title) for title in found))

    def _read(self, line: TextLine, seen: dict[str, Sighting]) -> None:
        sentences = tuple(sentence.text for sentence in line.sentences)
        if speaker := line.sentences[0].speaker:
            _see(seen, speaker, "person", context=sentences[0], is_person=True)
        for kind, name in marks(line.raw):
            if len(name.split()) <= WORDS_MAX and LETTERS.search(name):
                context = _holding(sentences, name)
                is_person = kind == "link" and any(run.is_person and run.name == name for run in self._runs(context))
                _see(seen, clean(name).strip(" :;,.-–—"), kind, context=context, is_person=is_person)
        if MARKED.search(line.raw):
            sentences = tuple(split(clean(without(line.raw))))
        attending = ATTENDING.match(line.raw)
        for name in _attendees(line.raw[attending.end() :]) if attending else ():
            if sighting := _see(seen, name, "name", context=sentences[0] if sentences else "", is_person=True):
                sighting.said += 1
        for written in sentences[1:] if attending else sentences:
            self._read_sentence(written if written.isascii() else INVISIBLE.sub("", written), seen)

    def _read_titles(self, seen: dict[str, Sighting]) -> None:
        """See the names in the title and in a heading above all text, unless each of its words has a capital."""
        for title in self._titles:
            whole = key_of(title, "title")
            for name, is_person, is_sure in found(title, self.language):
                if key_of(name, "name") != whole:
                    _see(seen, name, "name" if is_sure else "open", context=title, is_person=is_person)
            if not SMALL.search(title):
                continue
            if JOINED.fullmatch(title):
                continue
            for run in self._runs(DOING.sub("", title)):
                if (kind := self._kind(run)) and key_of(run.name, kind) != whole:
                    _see(seen, run.name, kind, context=title, is_person=run.is_person)

    def _read_sentence(self, sentence: str, seen: dict[str, Sighting]) -> None:
        context = sentence.replace(GAP, "…")
        named = [
            (run.name, kind, run.is_person and run.name.split()[0].lower() not in self._small)
            for run in self._runs(sentence)
            if (kind := self._kind(run))
        ]
        named = self._joined(sentence, named) if len(named) > 1 else named
        if self.language == "de":
            named += [
                (name, "bare", False) for run in self._runs(sentence) if (name := explained(run.name, run.is_sure))
            ]
        said = found(sentence, self.language)
        named += [(name, "name" if is_sure else "open", is_person) for name, is_person, is_sure in said]
        for name, kind, is_person in named:
            if sighting := _see(seen, name, kind, context=context, is_person=is_person):
                sighting.said += 1
                before = sentence.partition(name)[0][-40:]
                sighting.passed += PASSING.search(before) is not None
                sighting.where += WHERE.search(before) is not None
                sighting.listed += len(named) >= LISTED_MIN

    def _runs(self, text: str) -> Iterator[CapitalRun]:
        """Yield names by their capitals; in scripts without any a word in Latin letters is one wherever it stands."""
        if self.language not in SPACELESS_LANGUAGES:
            yield from runs(text, self.language)
        else:
            yield from (run._replace(opens=False) for run in runs(LATIN_EDGE.sub(" ", text), self.language))

    @staticmethod
    def _joined(sentence: str, named: list[tuple[str, str, bool]]) -> list[tuple[str, str, bool]]:
        """Add two names that `and` joins as one, which counts where a source has that title, and the two for less."""
        things = {name for name, _, is_person in named if not is_person}
        names = {name for name, _, _ in named}
        joined = [one for one in JOINED.finditer(sentence) if one["left"] in things and one["right"] in names]
        inside = {name for one in joined for name in (one["left"], one["right"]) if sentence.count(name) == 1}
        lesser = [
            (name, "inside", False) if name in inside else (name, kind, is_person) for name, kind, is_person in named
        ]
        return lesser + [(one["whole"], "joined", False) for one in joined]

    def _kind(self, run: CapitalRun) -> str | None:
        """Return `name` where a capital says that it is one, `open` where it may only begin a sentence."""
        name, opens, is_sure = run.name, run.opens, run.is_sure
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
            return ("name" if is_titled else "first") if not is_one else self._opening(run)
        return "bare" if run.is_bare else "name" if not opens or has_inner else "first"

    @staticmethod
    def _opening(run: CapitalRun) -> str | None:
        """Return `open` for one word that begins a sentence: evidence of a name that others write as one."""
        is_likely = len(run.name) >= OPENING_MIN and run.name.lower() not in PRESS | IMPERATIVES
        return "open" if run.acts or is_likely else None

    @cached_property
    def _small(self) -> frozenset[str]:
        """Return the words that the source writes without a capital too: those are no names."""
        return frozenset(word for word in set(self._written) if word[0].islower())

    @cached_property
    def _written(self) -> list[str]:
        """Return its words, letter by letter as they are written."""
        return WORD.findall("\n".join(line.raw for line in self.lines))


def key_of(name: str, kind: str) -> str:
    """Return the name that it is held under: a city's without its region, a title without its article, no `さん`."""
    if kind == "person":
        return normalised(without_politeness(name))
    if kind in ("title", "work", "quote"):
        return ARTICLE.sub("", normalised(name))
    return normalised(REGION.split(name, maxsplit=1)[0] if kind == "city" else name)


def _attendees(listed: str) -> Iterator[str]:
    """Yield the names of a list of people: `Ines Carvalho, Tobias (remote) and Wen Li`."""
    for one in ATTENDEE_END.split(BRACKETS.sub("", clean(listed))):
        one = one.rpartition(":")[2]  # `Gast: Frau Albers`
        words = one.strip(" .*_@").split()
        is_name = 0 < len(words) <= WORDS_MAX and all(word[0].isupper() or word in PARTICLES for word in words)
        if is_name or (len(words) == 1 and SPACELESS.search(one)):
            yield " ".join(words)


def first_name(name: str, key: str) -> str | None:
    """Return the given name out of a name of two or three words: `Nadia Brandt`, `Aunt Nadia`, but not `Dr. Vos`."""
    words = name.split()
    if not 2 <= len(words) <= 3 or len(key.split()) != len(words):
        return None
    if len(words) == 2 and words[0].lower() in FAMILIAR and words[1][0].isupper() and words[1].isalpha():
        return key.split()[1]
    small = {word.lower().rstrip(".") for word in words}
    first = key.split()[0]
    if small & (HONORIFICS | PARTICLES) or not all(word[0].isupper() and word.isalpha() for word in words):
        return None
    return first if len(first) > 1 and first not in EVERYWHERE else None


def _see(
    seen: dict[str, Sighting], name: str, kind: str, *, key: str = "", context: str = "", is_person: bool = False
) -> Sighting | None:
    key = key or key_of(name, kind)
    if kind in ("name", "first") and (firm := FIRM.match(name)):
        name, key = name[firm.end() :], normalised(name[firm.end() :])
    if not key or key in DATES or key.isdigit() or (kind not in metadata.NAMED and key in EVERYWHERE):
        return None
    sighting = seen.setdefault(key, Sighting(key, name))
    if kind == "part":
        sighting.name = name
    sighting.marks.add(kind)
    sighting.is_person = sighting.is_person or is_person or kind == "person"
    sighting.context = sighting.context or context
    return sighting


def _know_people(seen: Mapping[str, Sighting]) -> None:
    """Mark full names as those of people whose first names the source uses so: `Nadia Brandt … Nadia wrote`."""
    for sighting in seen.values():
        if not sighting.is_person and (first := first_name(sighting.name, sighting.key)):
            sighting.is_person = first in seen and seen[first].is_person


def _may_be_person(sighting: Sighting) -> bool:
    """Return whether other sources may say that the first word of this name is somebody."""
    words = sighting.key.split()
    return len(words) == 2 and bool(sighting.marks & NAMING) and KINDS.isdisjoint(words) and FIRMS.isdisjoint(words)


def _short_forms(seen: Mapping[str, Sighting]) -> list[tuple[str, Sighting]]:
    """Return the first words that stand for the only longer name with them: `Corvina Bank …, and Corvina will pay`.

    Those of firms do so in any source: people leave out what kind of firm it is.
    """
    found: dict[str, list[Sighting]] = {}
    for sighting in seen.values():
        first, _, rest = sighting.key.partition(" ")
        if rest and len(first) >= SHORT_FORM_MIN and sighting.marks & NAMING and not sighting.is_person:
            found.setdefault(first, []).append(sighting)
    return [
        (first, longer[0])
        for first, longer in found.items()
        if len(longer) == 1
        and first not in KINDS
        and (longer[0].key.partition(" ")[2] in FIRMS or (first in seen and "name" in seen[first].marks))
    ]


def _holding_names(seen: Mapping[str, Sighting], name: str) -> list[str]:
    """Return the names of several words that this one is a part of, as sentences hold them, the longest first."""
    found = [
        padded(key)
        for key, one in seen.items()
        if " " in key and key != name and f" {name} " in f" {key} " and (one.is_person or one.marks & NAMING)
    ]
    return sorted(found, key=len, reverse=True)


def _without(words: str, names: Iterable[str]) -> str:
    for name in names:
        words = words.replace(name, GAP)
    return words


def _put_aside(sightings: Iterable[Sighting]) -> None:
    """Mark names seen by capitals alone, except people's, as less important: the source links by hand what matters."""
    for sighting in sightings:
        if "name" in sighting.marks and sighting.marks <= CAPITALS and not sighting.is_person:
            sighting.marks = {"aside"}


def _holding(sentences: tuple[str, ...], name: str) -> str:
    return next((text for text in sentences if name in text), sentences[0] if sentences else "")
