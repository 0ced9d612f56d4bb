"""Finding the names in a sentence: by capitals, by the words around them in other scripts, and by numbers."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from content.languages import is_rare, is_unlisted

from ..texts.language import SAMPLE, SPACELESS, STOPWORDS, is_clear, stops_of, word_set
from ..texts.text import parted
from .buttons import IMPERATIVES, PRESS
from .capitals import HONORIFICS, ROMANCE, CapitalRun, runs
from .common_nouns import GENERIC
from .german_nouns import explained_noun, has_inner_capitals
from .spaceless import extract_names

OPENING_MIN = 4  # letters of a word at the beginning of a sentence that may be a name without a verb after it
TERM = re.compile(r"[a-zß-ÿ][a-zß-ÿ0-9-]{3,}[a-zß-ÿ0-9]")  # five letters or more, and no contraction
MIXED = re.compile(r"[a-z]{1,2}[A-Z]{2,}[A-Za-z0-9]*|[a-z]+\d+[a-z]+")  # `eDNA`, `k3s`
# `H3`, but no size of paper and no quarter of a year.
CODE = re.compile(r"(?<![\w./-])(?!A[0-6]\b|Q[1-4]\b)[A-Z]\d{1,2}(?![\w%°/-]|[.,]\d| ?[%°€$£])")
# `Angra do Heroísmo`
PARTS = re.compile(r"^\S{4,} (?:de|do|da|dos|das|del|della|di|du|des)(?: la| las| los| le)? [A-ZÀ-Þ]")
NUMBERED = re.compile(
    r"(?<![\w.-])(?P<of>[^\W\d_][a-zà-ÿ]{3,19} )?(?P<kind>[a-zà-ÿ]{4,20}) (?P<number>\d{1,3}[a-z]?)"
    r"(?![\w%°]| ?[%°€$£]|[.,:/-]\d)(?= (?P<after>[^\W\d_]+)|)"
)
DONE_TO = re.compile("(?:ed|ing|en|er|é|ado|ido)$")  # a verb before such a thing: `Repaired bench 3`
# Compounds that are no names: `Unix-like`, but not `Hyun-woo`.
COMPOUND = re.compile(
    r"-(?:like|based|free|style|driven|ready|only|wide|old|related|specific|friendly|aware|level|side|end|term|time|led|made"
    r"|size|sized|type|scale|proof|shaped|hosted|in|up|on|off|out|aliasing|sync|mail|day|week|night|hour|minute)$"
)
# Indefinite pronouns of Romance languages.
NOBODY = word_set(
    """
    nessuno qualcuno niente ognuno tutto tutti nadie alguien nada todo todos ninguém alguém tudo ninguno alguno
    quelqu'un personne rien chacun tout aucun aucune certains algo isso isto eso esto ello questo quello qualcosa
    """
)
# Two names joined by `and`, which may be the title of a work.
JOINED = re.compile(r"(?<!, )\b(?P<whole>(?P<left>[A-Z]\w+) (?:and|&|et|y|e) (?P<right>[A-Z]\w+))")


class FoundName(NamedTuple):
    """A name as a sentence writes it."""

    name: str
    kind: str
    """The mark that its sighting gets (`tallies`)."""
    is_person: bool
    acts: bool = False
    """Whether a verb follows that says what somebody or something does or is."""


class SentenceNames:
    """Finds the names in the sentences of one source. `words` are all words of the source as they are written."""

    def __init__(self, language: str, words: Sequence[str]) -> None:
        self.language = language
        self.small = frozenset(word for word in set(words) if word[0].islower())
        self.is_clear = is_clear(language, map(str.lower, words[:SAMPLE]))

    def found(self, sentence: str) -> list[FoundName]:
        """Return the names in a sentence. A name that is found twice is returned twice."""
        found_runs = list(self.runs(sentence))
        named = [
            FoundName(run.name, kind, run.is_person and run.name.split()[0].lower() not in self.small, run.acts)
            for run in found_runs
            if (kind := self.kind(run))
        ]
        named = _joined(sentence, named) if len(named) > 1 else named
        if self.language == "de":
            explained = (explained_noun(run.name, run.is_sure) for run in found_runs)
            named += [FoundName(name, "bare", False) for name in explained if name]
        named += [FoundName(name, "name", False) for name in self._numbered(sentence)]
        named += [FoundName(code, "code", False) for code in CODE.findall(sentence)]
        said = extract_names(sentence, self.language)
        return named + [FoundName(name, "name" if is_sure else "open", is_person) for name, is_person, is_sure in said]

    def terms(self) -> Iterator[str]:
        """Yield words in small letters that no dictionary of the language or of English has (`pgbouncer`), and words
        that have capitals or digits inside."""
        for word in sorted(self.small):
            is_term = TERM.fullmatch(word) and self.is_unlisted(word) and is_unlisted(word, "en")
            if is_term or MIXED.fullmatch(word):
                yield word

    def runs(self, text: str) -> Iterator[CapitalRun]:
        """Yield the names by their capitals.

        In a text without capitals, a word in Latin letters counts as a name also at the beginning of a sentence.
        """
        if self.language not in SPACELESS:
            yield from runs(text, self.language)
        else:
            yield from (run._replace(opens=False) for run in runs(parted(text), self.language))

    def kind(self, run: CapitalRun) -> str | None:
        """Return the mark for a name by its capitals (`name`, `first`, `bare` or `open`), or None if it is no name."""
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
        """Return the mark for a single word at the beginning of a sentence: usually `open`, or None.

        In Romance languages a noun before a verb has an article, so a word without one is a name: `Giulia ha pianto`.
        """
        if run.acts and self.language in ROMANCE and run.name.lower() not in NOBODY:
            return "name"
        is_likely = len(run.name) >= OPENING_MIN or self.is_rare(run.name)
        is_likely = is_likely and run.name.lower() not in PRESS | IMPERATIVES
        return "open" if run.acts or is_likely or self.is_unlisted(run.name) else None

    def is_rare(self, word: str) -> bool:
        """Return whether a word is rare in texts of the language, and so is a name if it has a capital.

        No word of a source is rare if the language of the source is not clear. French imperatives such as `Cliquez`,
        with which manuals begin sentences, are never rare, because the word lists lack many of them.
        """
        return self.is_clear and not self._is_small(word) and is_rare(word, self.language)

    def is_unlisted(self, word: str) -> bool:
        """Return whether no dictionary of the language has a word, so that it is a name even at a sentence's
        beginning."""
        return self.is_clear and not self._is_small(word) and is_unlisted(word, self.language)

    def _is_small(self, word: str) -> bool:
        """Return whether it is a stop word, a common noun, or a French imperative."""
        word = word.lower()
        is_imperative = self.language == "fr" and word.endswith("ez")
        return is_imperative or word in GENERIC.get(self.language, ()) or word in stops_of(self.language)

    def _numbered(self, sentence: str) -> Iterator[str]:
        """Yield things in small letters with a number in place of a name: `from plot 4`, `la parcelle 12 est`."""
        small = stops_of(self.language) | GENERIC.get(self.language, frozenset())
        for found in NUMBERED.finditer(sentence):
            if found["kind"] not in small and (found["after"] is None or found["after"] in small):
                before = (found["of"] or "").strip().lower()
                is_part = before not in stops_of(self.language) and not DONE_TO.search(before)
                yield f"{before if is_part else ''} {found['kind']} {found['number']}".strip()


def _joined(sentence: str, named: list[FoundName]) -> list[FoundName]:
    """Return the names with each pair that `and` joins added as one name, marked `joined`.

    The two names of a pair are marked `inside`, which counts less, unless the sentence has them elsewhere as well.
    """
    things = {name.name for name in named if not name.is_person}
    names = {name.name for name in named}
    pairs = [pair for pair in JOINED.finditer(sentence) if pair["left"] in things and pair["right"] in names]
    inside = {name for pair in pairs for name in (pair["left"], pair["right"]) if sentence.count(name) == 1}
    remarked = [name._replace(kind="inside", is_person=False) if name.name in inside else name for name in named]
    return remarked + [FoundName(pair["whole"], "joined", False) for pair in pairs]
