"""The names in a sentence: by capitals, by what scripts without capitals have around them, and by numbers."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from content.languages import is_rare, is_unlisted

from ..texts.language import SAMPLE, SPACELESS, STOPWORDS, is_clear, stops_of, word_set
from ..texts.text import parted
from .capitals import HONORIFICS, IMPERATIVES, PRESS, CapitalRun, runs
from .common_nouns import GENERIC
from .german_nouns import explained_noun, has_inner_capitals
from .spaceless import extract_names

OPENING_MIN = 4  # letters of a word that begins a sentence without doing anything in it
TERM = re.compile(r"[a-zß-ÿ][a-zß-ÿ0-9-]{3,}[a-zß-ÿ0-9]")  # five letters or more, and no contraction
ROMANCE = frozenset({"fr", "es", "pt", "it"})
# `Angra do Heroísmo`
PARTS = re.compile(r"^\S{4,} (?:de|do|da|dos|das|del|della|di|du|des)(?: la| las| los| le)? [A-ZÀ-Þ]")
NUMBERED = re.compile(
    r"(?<![\w.-])(?P<of>[^\W\d_][a-zà-ÿ]{3,19} )?(?P<kind>[a-zà-ÿ]{4,20}) (?P<number>\d{1,3}[a-z]?)"
    r"(?![\w%°]| ?[%°€$£]|[.,:/-]\d)(?= (?P<after>[^\W\d_]+)|)"
)
DONE_TO = re.compile("(?:ed|ing|en|er|é|ado|ido)$")  # what somebody did with it: `Repaired bench 3`
# `Unix-like`; not `Hyun-woo`.
COMPOUND = re.compile(
    r"-(?:like|based|free|style|driven|ready|only|wide|old|related|specific|friendly|aware|level|side|end|term|time|led|made"
    r"|size|sized|type|scale|proof|shaped|hosted|in|up|on|off|out|aliasing|sync|mail|day|week|night|hour|minute)$"
)
# Nobody in particular, in Romance languages.
NOBODY = word_set(
    """
    nessuno qualcuno niente ognuno tutto tutti nadie alguien nada todo todos ninguém alguém tudo ninguno alguno
    quelqu'un personne rien chacun tout aucun aucune certains algo isso isto eso esto ello questo quello qualcosa
    """
)
# Two names as one: the title of a work, where a source has that title.
JOINED = re.compile(r"(?<!, )\b(?P<whole>(?P<left>[A-Z]\w+) (?:and|&|et|y|e) (?P<right>[A-Z]\w+))")


class FoundName(NamedTuple):
    """A name as a sentence writes it, the mark that it earns by that, and whether it is somebody's."""

    name: str
    kind: str
    is_person: bool
    acts: bool = False
    """Whether a verb follows that says what somebody or something does or is."""


class SentenceNames:
    """Finds the names in the sentences of one source. `words` are all its words as they are written."""

    def __init__(self, language: str, words: Sequence[str]) -> None:
        self.language = language
        self.small = frozenset(word for word in set(words) if word[0].islower())
        self.is_clear = is_clear(language, map(str.lower, words[:SAMPLE]))

    def found(self, sentence: str) -> list[FoundName]:
        """Return the names of a sentence, each as often as it is found."""
        read = list(self.runs(sentence))
        named = [
            FoundName(run.name, kind, run.is_person and run.name.split()[0].lower() not in self.small, run.acts)
            for run in read
            if (kind := self.kind(run))
        ]
        named = _joined(sentence, named) if len(named) > 1 else named
        if self.language == "de":
            explained = (explained_noun(run.name, run.is_sure) for run in read)
            named += [FoundName(name, "bare", False) for name in explained if name]
        named += [FoundName(name, "name", False) for name in self._numbered(sentence)]
        said = extract_names(sentence, self.language)
        return named + [FoundName(name, "name" if is_sure else "open", is_person) for name, is_person, is_sure in said]

    def terms(self) -> Iterator[str]:
        """Yield the words that no dictionary has, of the language or of English, in small letters: `pgbouncer`."""
        for word in sorted(filter(TERM.fullmatch, self.small)):
            if self.is_unlisted(word) and is_unlisted(word, "en"):
                yield word

    def runs(self, text: str) -> Iterator[CapitalRun]:
        """Yield names by their capitals; in scripts without any a word in Latin letters is one wherever it stands."""
        if self.language not in SPACELESS:
            yield from runs(text, self.language)
        else:
            yield from (run._replace(opens=False) for run in runs(parted(text), self.language))

    def kind(self, run: CapitalRun) -> str | None:
        """Return `name` where a capital says that it is one, `open` where it may only begin a sentence."""
        name, opens, is_sure = run.name, run.opens, run.is_sure
        is_one = " " not in name
        if is_one and (
            name.lower() in self.small or (name.lower() in STOPWORDS.get(self.language, ()) and not name.isupper())
        ):
            return None
        if is_one and COMPOUND.search(name):
            return None
        if not is_sure:
            return None
        has_inner = has_inner_capitals(name)
        if opens and not has_inner:
            is_titled = name.split()[0].lower().rstrip(".") in HONORIFICS
            is_titled = is_titled or (self.language in ROMANCE and PARTS.search(name) is not None)
            is_titled = is_titled or self.is_unlisted(name.split()[0])
            return ("name" if is_titled else "first") if not is_one else self._opening(run)
        return "bare" if run.is_bare else "name" if not opens or has_inner else "first"

    def _opening(self, run: CapitalRun) -> str | None:
        """Return `open` for one word that begins a sentence: evidence of a name that others write as one.

        In Romance languages a noun that does something has an article, so what has none is a name: `Giulia ha pianto`.
        """
        if run.acts and self.language in ROMANCE and run.name.lower() not in NOBODY:
            return "name"
        is_likely = len(run.name) >= OPENING_MIN or self.is_rare(run.name)
        is_likely = is_likely and run.name.lower() not in PRESS | IMPERATIVES
        return "open" if run.acts or is_likely or self.is_unlisted(run.name) else None

    def is_rare(self, word: str) -> bool:
        """Return whether texts of the language hardly ever say a word, which is then a name where it has a capital.

        Where a source does not make clear in which language it is, no word of it is rare. The lists lack many French
        imperatives, with which manuals begin sentences: `Cliquez`.
        """
        return self.is_clear and not self._is_small(word) and is_rare(word, self.language)

    def is_unlisted(self, word: str) -> bool:
        """Return whether a word is none of the language, and so a name where it only begins a sentence."""
        return self.is_clear and not self._is_small(word) and is_unlisted(word, self.language)

    def _is_small(self, word: str) -> bool:
        word = word.lower()
        is_imperative = self.language == "fr" and word.endswith("ez")
        return is_imperative or word in GENERIC.get(self.language, ()) or word in stops_of(self.language)

    def _numbered(self, sentence: str) -> Iterator[str]:
        """Yield what has a number in place of a name, written small: `from plot 4`, `la parcelle 12 est`."""
        small = stops_of(self.language) | GENERIC.get(self.language, frozenset())
        for one in NUMBERED.finditer(sentence):
            if one["kind"] not in small and (one["after"] is None or one["after"] in small):
                before = (one["of"] or "").strip().lower()
                is_part = before not in stops_of(self.language) and not DONE_TO.search(before)
                yield f"{before if is_part else ''} {one['kind']} {one['number']}".strip()


def _joined(sentence: str, named: list[FoundName]) -> list[FoundName]:
    """Add two names that `and` joins as one, which counts where a source has that title, and the two for less."""
    things = {one.name for one in named if not one.is_person}
    names = {one.name for one in named}
    joined = [one for one in JOINED.finditer(sentence) if one["left"] in things and one["right"] in names]
    inside = {name for one in joined for name in (one["left"], one["right"]) if sentence.count(name) == 1}
    lesser = [one._replace(kind="inside", is_person=False) if one.name in inside else one for one in named]
    return lesser + [FoundName(one["whole"], "joined", False) for one in joined]
