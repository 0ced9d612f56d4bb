"""Readings: the language, sentences and sightings of one source, which depend on that source alone."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from content.languages import CODES, common_words
from content.normalization import INVISIBLE
from content.notes.fields import NO_RECORD, record_of
from content.notes.mail import mail_of
from content.search.words import SPACELESS

from ..planner import SourceText
from .names.attendees import ATTENDING, attendees
from .names.common_nouns import GENERIC
from .names.sentence_names import JOINED, SentenceNames
from .names.sightings import (
    GAP,
    Sighting,
    cited_authors,
    features_of,
    first_name,
    is_joined,
    key_of,
    mark_aside,
    mark_categories,
    mark_people,
    marks,
    may_be_person,
    names_containing,
    see,
    short_forms_of,
    table_links,
    without,
)
from .names.spaceless import extract_names
from .names.subjects import SHORT_MAX, subjects, title_subjects
from .texts import metadata
from .texts.language import SAMPLE, language_of
from .texts.text import WORD, Sentence, TextLine, clean, fold_text, lines, normalised, padded, split

NAMES_MAX = 300  # names of one source
WORDS_MAX = 6  # words of a marked name
MAIL_MAX = 10_000  # characters in which the header of a mail or a record is looked for
RARE_MIN = 3  # letters of a rare word that may be a name
LINKED_MIN = 3  # names that a source links by hand, from which on its other names count less
LETTERS = re.compile(r"[^\W\d_]{2}|[\u3400-\u9fff\uac00-\ud7af]")
MARKED = re.compile(r"[`*_\[#@]|://|www\.|mailto:")
SMALL = re.compile(r"\b[a-zß-ÿ]{4}|[\u3040-\u9fff]")  # a word in small letters, without which a title is in title case
LISTED_MIN = 8  # names of one sentence, from which on it counts as a list of names
SERIES = re.compile(r"^[^\W\d_]{2,20} ?[#№]?\d{1,5} ?[:.–—-] +")  # `ADR 12: `
DOING = re.compile(r"^[A-Z]\w{2,}ing (?=[A-Z])")  # `Writing Linkfold`


class Reading:
    """The results of reading one source, computed when they are needed first and then stored."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.lines: tuple[TextLine, ...] = lines(source.content)
        self.entries: dict[Any, Any] = {}
        """Results that the module `evidence` stores here."""
        self.decisions: Any = None
        """The result that the module `decisions` stores here."""
        self._saying: dict[frozenset[str], tuple[Sentence, ...]] = {}

    @property
    def stored_results(self) -> int:
        """Return the number of stored results that grows with the use of the reading."""
        return len(self.entries) + len(self._saying)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple(sentence for line in self.lines for sentence in line.sentences)

    def saying(self, names: frozenset[str]) -> tuple[Sentence, ...]:
        """Return the sentences that contain one of these normalised names."""
        if names not in self._saying:
            self._saying[names] = self._sentences_with(map(padded, names))
        return self._saying[names]

    def following(self, sentence: Sentence) -> Sentence | None:
        """Return the next sentence of the same line, if there is one."""
        for line in self.lines:
            for before, after in pairwise(line.sentences):
                if before is sentence:
                    return after
        return None

    def _sentences_with(self, wanted: Iterable[str]) -> tuple[Sentence, ...]:
        """Return the sentences that contain one of these padded names."""
        found = {index for name in wanted for index in self._indexes_of(name)}
        return tuple([self.sentences[index] for index in sorted(found)])

    def _indexes_of(self, wanted: str) -> Iterator[int]:
        """Yield the indexes of the sentences that contain a padded name.

        The words of all sentences are searched as one text, which is faster than one search per sentence.
        """
        words, starts = self.words, self._starts
        at = words.find(wanted)
        while 0 <= at < starts[-1]:
            index = bisect_right(starts, at) - 1
            yield index
            at = words.find(wanted, starts[index + 1])

    def alone(self, name: str, longer: Sequence[str]) -> tuple[Sentence, ...]:
        """Return the sentences that contain a name outside of these longer names."""
        wanted = padded(name)
        return tuple(
            sentence for sentence in self._sentences_with([wanted]) if wanted in _without(sentence.words, longer)
        )

    @cached_property
    def is_brief(self) -> bool:
        """Return whether it is a short note without links, which mentions little in passing."""
        return self._is_short and not any("link" in sighting.marks for sighting in self.sightings.values())

    @cached_property
    def language(self) -> str:
        return language_of(self.source.content, map(str.lower, self._written[:SAMPLE]))

    @cached_property
    def words(self) -> str:
        """Return the normalised words of each sentence, and then of each name in the metadata, one per line."""
        named = (fold_text(name) for _, name in self.named_things)
        return "\n".join([*(sentence.words for sentence in self.sentences), *named])

    @cached_property
    def _starts(self) -> "array[int]":
        """Return the positions in `words` where each sentence begins, and where the last one ends."""
        return array("L", accumulate((len(sentence.words) + 1 for sentence in self.sentences), initial=0))

    @cached_property
    def all_words(self) -> str:
        """Return the normalised words of the whole text, including headings and code, and of the names in the
        metadata."""
        return f"{fold_text(self.source.content)}{''.join(fold_text(name) for _, name in self.named_things)}"

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Return those words of `all_words` that are ASCII."""
        return frozenset(filter(str.isascii, self.all_words.split()))

    @cached_property
    def named_things(self) -> tuple[tuple[str, str], ...]:
        """Return (kind, name) of the metadata, of the sender of a mail, and of the fields of a record."""
        written = self.source.content[:MAIL_MAX].splitlines()
        mail = mail_of(written)
        record = NO_RECORD if mail else record_of(written)
        people = [mail.sender] if mail and mail.sender else record.people
        fields = [*(("person", name) for name in people), *(("project", name) for name in record.parties)]
        return (*metadata.named_things(self.source), *fields)

    @cached_property
    def metadata(self) -> dict[str, set[str]]:
        """Return the normalised names of `named_things` by kind."""
        by_kind: dict[str, set[str]] = {}
        for kind, name in self.named_things:
            by_kind.setdefault(kind, set()).add(key_of(name, kind))
        return by_kind

    @cached_property
    def sightings(self) -> dict[str, Sighting]:
        """Return the sightings by normalised name, in the order of the text."""
        seen: dict[str, Sighting] = {}
        for kind, name in self.named_things:
            see(seen, name, kind, context=metadata.short_name(self.source.title) or "")
        self._read_titles(seen)
        for line in self.lines:
            if len(seen) > NAMES_MAX:
                break
            self._read(line, seen)
        for name in table_links(self.source.content):
            if len(seen) <= NAMES_MAX and _may_be_name(name):
                see(seen, name, "link")
        mark_people(seen)
        self._see_first_names(seen)
        linked = sum("link" in sighting.marks for sighting in seen.values())
        if linked >= LINKED_MIN:
            mark_aside(seen.values())
        if not linked:
            self._see_rare(seen)
            self._see_subjects(seen)
            if self._is_short:
                self._see_terms(seen)
        for name, product, whole in features_of(seen, [sentence.text for sentence in self.sentences]):
            see(seen, whole.name, "part", key=name, context=whole.context)
            product.name = " ".join(whole.name.split()[: len(product.key.split())])  # a product is no short form here
        self._mark_titled(seen)
        mark_categories(seen, metadata.labels(self.source, self.language), (line.raw for line in self.lines))
        if self._is_short:
            self._describe_short(seen.values(), is_brief=not linked)
            if (file := metadata.file_name(self.source.ref)) and _may_be_name(file):
                see(seen, file, "file")
        for attribute in ("_written", "_names"):
            self.__dict__.pop(attribute, None)  # no longer needed
        if len(self._days) > 1:
            self._count_days(seen)
        return seen

    @cached_property
    def _days(self) -> frozenset[Any]:
        """Return the days of the entries, of which a journal or a chat in one file has several."""
        return frozenset(sentence.day for sentence in self.sentences)

    @property
    def _is_short(self) -> bool:
        """Return whether it is a short note: at most SHORT_MAX sentences per day."""
        return len(self.sentences) <= SHORT_MAX * len(self._days)

    def _describe_short(self, sightings: Iterable[Sighting], *, is_brief: bool) -> None:
        """Describe the sightings of a short note. `is_brief` says that it links nothing."""
        for sighting in sightings:
            sighting.is_linked = "link" in sighting.marks
            if is_brief:
                sighting.is_brief = True
                may_open = not sighting.marks.isdisjoint(("open", "first"))
                sighting.is_actor = self.language == "de" and may_open and sighting.acted > 0
                sighting.is_opening = self.language != "de" and sighting.marks == {"open"}
                sighting.is_unlisted = sighting.is_rare and self._names.is_unlisted(sighting.word)

    def _see_first_names(self, seen: dict[str, Sighting]) -> None:
        """Add sightings of the first names in names that may be a person's."""
        for sighting in list(seen.values()):
            may_be = sighting.is_person or (may_be_person(sighting) and not is_joined(seen, sighting))
            if may_be and (first := first_name(sighting.name, sighting.key)):
                see(seen, sighting.name, "part", key=first, context=sighting.context, is_person=sighting.is_person)

    def _see_rare(self, seen: dict[str, Sighting]) -> None:
        """Mark rare words, and add sightings of cited authors and of the short forms of names."""
        for author, sighting in cited_authors(seen):
            if self._names.is_rare(author):
                see(seen, author, "name", context=sighting.context)
        for key, sighting in seen.items():
            sighting.is_rare = len(key) >= RARE_MIN and key.isalpha() and self._names.is_rare(sighting.word)
        for short, sighting in short_forms_of(seen):
            self._see_short(seen, sighting, short)

    def _see_short(self, seen: dict[str, Sighting], whole: Sighting, short: str) -> None:
        """Add the sighting of a short form of a name."""
        if part := see(seen, whole.name, "part", key=short, context=whole.context):
            part.marks.add("short")

    def _see_subjects(self, seen: dict[str, Sighting]) -> None:
        """Add sightings of the subjects and nouns of the text, and of what the titles are about."""
        marked = "\n".join(key for key, sighting in seen.items() if sighting.marks & {"work", "name", "quote"})
        people = [key for key, name in seen.items() if name.is_person and len(key) > 1 and SPACELESS.search(key)]
        prose = [line for line in self.lines if not ATTENDING.match(line.raw)]
        titles = [name for kind, name in self.named_things if kind == "title"]
        common = common_words(CODES.get(self.language, self.language))
        for name, context, is_about, is_item in subjects(prose, titles, self.language):
            is_name = name in marked or any(name.startswith(person) or name in person for person in people)
            longer = names_containing(seen, normalised(name))
            is_inside = bool(longer) and not self.alone(normalised(name), longer)
            is_common = all(word in common for word in name.split()) and not is_about
            if is_common and " " not in name:
                continue
            if name in seen or not (is_inside or (SPACELESS.search(name) and is_name)):
                subject = see(seen, name, "subject" if is_about else "noun", context=context)
                if subject and is_item:
                    subject.marks.add("item")
                if subject:
                    subject.is_common = is_common
        for title in self._titles:
            for name in title_subjects(title, self.language) if not JOINED.fullmatch(title) else ():
                self._see_titled(seen, name.lower() if name[1:].islower() else name)

    def _see_terms(self, seen: dict[str, Sighting]) -> None:
        """Add sightings of the words that no dictionary has, which in a short note are things that its writer uses."""
        prose = [sentence for line in self.lines if not ATTENDING.match(line.raw) for sentence in line.sentences]
        for term in self._names.terms():
            wanted = padded(normalised(term))
            said = next((sentence.text for sentence in prose if wanted in sentence.words), None)
            said = said or next((title for title in self._titles if wanted in fold_text(title)), None)
            if said:
                see(seen, term, "term", context=said)

    def _mark_titled(self, seen: dict[str, Sighting]) -> None:
        """Mark the names that its titles contain."""
        titles = "\n".join(map(fold_text, self._titles))
        for key, sighting in seen.items() if titles else ():
            is_word = sighting.marks <= {"title", "noun"} or key in GENERIC.get(self.language, ())
            if padded(key) in titles and not is_word:
                sighting.marks.add("titled")

    def _count_days(self, seen: dict[str, Sighting]) -> None:
        """Count the days whose entries contain each name, or are spoken by the person of this name."""
        for key, sighting in seen.items():
            longer = () if "part" in sighting.marks else names_containing(seen, key)
            said = self.alone(key, longer) if longer else self._sentences_with([padded(key)])
            spoken = (sentence.day for sentence in self.sentences if sentence.speaker == sighting.name)
            sighting.days = max(1, len({*(sentence.day for sentence in said), *spoken} - {None}))

    def _see_titled(self, seen: dict[str, Sighting], name: str) -> None:
        """Add the sighting of what a title is about, unless it is a name or a part of one.

        If the text contains it, it is marked as a noun, too. Words with capitals after a rare word make it a name, of
        which the rare word is a short form: `Tideway` of `Tideway Clinic`.
        """
        key = normalised(name)
        if (key in seen and seen[key].marks & {"name", "first", "part"}) or names_containing(seen, key):
            return
        said = self._sentences_with([padded(key)])
        if subject := see(seen, name, "subject", context=said[0].text if said else ""):
            subject.marks.update({"titled", "noun"} if said else {"titled"})
            first, *rest = name.split()
            if rest and all(word[0].isupper() for word in rest) and self._names.is_rare(first):
                subject.marks.add("name")
                self._see_short(seen, subject, normalised(first))

    @cached_property
    def _titles(self) -> tuple[str, ...]:
        """Return the title and the heading above all text, without their numbers in a series.

        The name of its file is the title of a short note that has none and no links.
        """
        heading = self.lines[0].heading if self.lines else ""
        is_named = self._is_short and "[[" not in self.source.content
        title = metadata.short_name(self.source.title) or (metadata.file_title(self.source.ref) if is_named else None)
        found = filter(None, (title, clean(heading)))
        return tuple(dict.fromkeys(SERIES.sub("", title) for title in found))

    def _read(self, line: TextLine, seen: dict[str, Sighting]) -> None:
        """Add the sightings in a line: its speaker, marked names, attendees, and the names in its sentences."""
        sentences = tuple(sentence.text for sentence in line.sentences)
        if speaker := line.sentences[0].speaker:
            see(seen, speaker, "person", context=sentences[0], is_person=True)
        for kind, name in marks(line.raw):
            if _may_be_name(name):
                context = _sentence_with(sentences, name)
                is_person = kind == "link" and any(
                    run.is_person and run.name == name for run in self._names.runs(context)
                )
                see(seen, clean(name).strip(" :;,.-–—"), kind, context=context, is_person=is_person)
        if MARKED.search(line.raw):
            sentences = tuple(split(clean(without(line.raw))))
        attending = ATTENDING.match(line.raw)
        for name in attendees(line.raw[attending.end() :]) if attending else ():
            if sighting := see(seen, name, "name", context=sentences[0] if sentences else "", is_person=True):
                sighting.said += 1
        for written in sentences[1:] if attending else sentences:
            self._read_sentence(written if written.isascii() else INVISIBLE.sub("", written), seen)

    def _read_titles(self, seen: dict[str, Sighting]) -> None:
        """Add the sightings of names in the titles, except for titles in title case, where capitals mean nothing."""
        for title in self._titles:
            whole = key_of(title, "title")
            for name, is_person, is_sure in extract_names(title, self.language):
                if key_of(name, "name") != whole:
                    see(seen, name, "name" if is_sure else "open", context=title, is_person=is_person)
            if not SMALL.search(title):
                continue
            if JOINED.fullmatch(title):
                continue
            for run in self._names.runs(DOING.sub("", title)):
                if (kind := self._names.kind(run)) and key_of(run.name, kind) != whole:
                    see(seen, run.name, kind, context=title, is_person=run.is_person)

    def _read_sentence(self, sentence: str, seen: dict[str, Sighting]) -> None:
        """Add the sightings of the names in a sentence, and count how it uses them."""
        context = sentence.replace(GAP, "…")
        named = self._names.found(sentence)
        for name, kind, is_person, acts in named:
            if sighting := see(seen, name, kind, context=context, is_person=is_person):
                sighting.count(sentence.partition(name)[0], acts=acts, is_listed=len(named) >= LISTED_MIN)

    @cached_property
    def _names(self) -> SentenceNames:
        """Return the finder of names for the sentences of this source."""
        return SentenceNames(self.language, self._written)

    @cached_property
    def _written(self) -> list[str]:
        """Return the words of the text and its titles as they are written."""
        return WORD.findall("\n".join([*(line.raw for line in self.lines), *self._titles]))


def _may_be_name(name: str) -> bool:
    return len(name.split()) <= WORDS_MAX and LETTERS.search(name) is not None


def _without(words: str, names: Iterable[str]) -> str:
    """Return the words with gaps in place of these names."""
    for name in names:
        words = words.replace(name, GAP)
    return words


def _sentence_with(sentences: tuple[str, ...], name: str) -> str:
    """Return the first sentence with this name, or else the first sentence."""
    return next((text for text in sentences if name in text), sentences[0] if sentences else "")
