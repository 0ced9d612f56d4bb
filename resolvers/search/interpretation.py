"""The interpretation of a query in one wiki: lexemes, completions of an unfinished last word, corrections of typos."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, groupby
from math import log1p, log10
from typing import NamedTuple
from uuid import UUID

from content.languages import COMPOUNDING, common_words
from content.names import normalise
from content.search.words import ANALYSER, ANALYSERS, spans, whole_words, words
from db.connection import Connection, Row
from db.scope import Scope
from db.sql import statements
from lib.threads import read_in_thread

from .lexemes import PASSAGES, scope_letter
from .weights import BUDGET, CORRECTED, IDLE, OPEN

WORDS = statements("search/words")
CODE = re.compile(r"([^\W\d_]+-?)([0-9]{2,9})")
LEAST, SHARE = 3, 1 / 3  # number and share of the names next to a code that one page must have


class Code(NamedTuple):
    """A normalised code of letters and digits, with the `first` and `last` code of the same letters and length."""

    name: str
    first: str
    last: str


async def find_relative(
    connection: Connection, where: dict[str, object], text: str, unknown: Set[str], statuses: Sequence[str]
) -> str | None:
    """Return a name near to the first code of the text that no page contains, or None.

    It is a name of the page that has most of the codes around the missing one.
    """
    code = next(codes(text, unknown), None)
    if code is None:
        return None
    rows = await connection.all(
        WORDS["find_relatives"], tenant_id=where["tenant_id"], owner_id=where["owner_id"], **code._asdict(),
        statuses=list(statuses),
    )  # fmt: skip
    return nearest_name(code, [row for row in rows if CODE.fullmatch(row["name"])])


def codes(text: str, unknown: Set[str]) -> Iterator[Code]:
    for name in normalise(text).split():
        if (match := CODE.fullmatch(name)) and not unknown.isdisjoint(words(name)[-1:]):
            letters, digits = match.groups()
            yield Code(name, letters + "0" * len(digits), letters + "9" * len(digits))


def nearest_name(code: Code, rows: Sequence[Row]) -> str | None:
    """Return the name nearest to the code, of the page with most of these names; None if no page has enough of them."""
    names: defaultdict[UUID, list[str]] = defaultdict(list)
    for row in rows:
        names[row["page_id"]].append(row["name"])
    most = max(names.values(), key=lambda own: (len(own), own), default=[])
    if len(most) < max(LEAST, SHARE * len(rows)):
        return None
    return min(most, key=lambda name: (abs(number(name) - number(code.name)), name))


def number(name: str) -> int:
    match = CODE.fullmatch(name)
    return int(match[2]) if match else 0


LAST = "\U0010ffff"
# `what's`, `don't`, `I'll`: the end of a contraction is a whole word. In `O'S` and `l'e` the last word is unfinished.
CONTRACTION = re.compile(r"(?:\w\w|\bi)['’‘ʼ＇](?:s|t|d|m|ll|re|ve)$", re.IGNORECASE)
MOST_WORDS, MOST_BESIDES = 64, 1_000  # words of a query, and of its phrases and exclusions, that are interpreted
FEW_WORDS = 6  # words of a query up to which its last word may be unfinished
SOME_WORDS = 8  # words of a query up to which a short word may be corrected by two edits
MOST_LONGER = 24  # completions that are fetched
MOST_OPEN, FEW_OPEN = 5, 2  # completions that are used for an unknown and for a known last word
COMMON = 50  # pages; a word that at least so many have is not completed
SHORTEST_PART, MOST_PARTS = 5, 8  # letters of a word that is looked for in compounds, and the number of such words
MOST_WRONG = 4  # words that are corrected
MOST_NEAR, MOST_FIXES = 6, 3  # corrections of a word that are considered, and that are used
SHORTEST_WRONG, LONGEST_WRONG = 4, 32  # characters of a correctable word; one less if other words are known


class Option(NamedTuple):
    """A word that a word of the query may stand for, with its lexemes. `trust` (0 to 1) scales their weight."""

    word: str
    trust: float
    lexemes: tuple[str, ...]


@dataclass(slots=True)
class ReadQuery:
    """A query as interpreted by the word counts of one wiki at `counted_at`.

    `options` has an entry for each word of the query, in its order. `forms` are other forms of its last word, and
    `relative` is an existing name near to a code that no page contains. `idle` words are stop words in one of the
    languages of the wiki, as `the` is in English. `parts` are words that compounds of the wiki begin or end with.
    `stems` maps words to lexemes, `found` a lexeme to its number of pages, and `corrected` a typed word to its
    correction.
    """

    letter: str
    analyser: int
    pages: int
    mean_length: float
    words: list[str]
    counted_at: datetime | None = None
    languages: Sequence[str] = ()
    stems: dict[str, tuple[str, ...]] = field(default_factory=dict)
    options: list[list[Option]] = field(default_factory=list)
    found: dict[str, int] = field(default_factory=dict)
    corrected: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    idle: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    forms: tuple[str, ...] = ()
    relative: str | None = None

    def rarity(self, lexeme: str) -> float:
        """Return the inverse document frequency of BM25."""
        found = max(self.found.get(lexeme, 0), 1)
        return log1p(max(0.0, self.pages - found + 0.5) / (found + 0.5))

    def meant(self, word: str) -> tuple[str, ...]:
        """Return the lexemes of a word, and those of its corrections."""
        if word not in self.corrected:
            return self.stems.get(word, ())
        options = self.options[self.words.index(word)]
        return tuple(dict.fromkeys(lexeme for one in options if one.trust > OPEN for lexeme in one.lexemes))

    def idle_among(self, words: Sequence[str]) -> set[str]:
        """Return the words that are stop words in one of the languages; none if all known words are."""
        known = self.stems.keys() & set(words)
        return known & self.idle if known - self.idle else set()

    @property
    def mended_text(self) -> str:
        """The words of the query, with corrections in the place of mistyped words."""
        return " ".join(self.corrected.get(word, word) for word in self.words)

    def did_you_mean(self, text: str) -> str | None:
        """Return the text with corrections in the place of mistyped words, or None if no word was corrected."""
        if not self.corrected:
            return None
        made, at = [], 0
        for (start, end), parts in groupby(spans(text), key=lambda word: word[1:]):
            written = [word.text for word in parts]
            if not self.corrected.keys().isdisjoint(written):
                meant = [self.corrected.get(word, word) for word in written if word in self.words]
                made += [text[at:start], " ".join(meant)]
                at = end
        return "".join([*made, text[at:]])


async def read(
    connection: Connection,
    scope: Scope,
    text: str,
    besides: str = "",
    statuses: Sequence[str] = ("active",),
    analyser: int = ANALYSER,
    offset: int = 0,
) -> ReadQuery | None:
    """Interpret the text of a query in a wiki; return None if the wiki has no index yet.

    For the words of `besides` only the lexemes are found. Mistyped words are corrected with words of pages of these
    statuses. An `offset` of PASSAGES selects the index of passages.
    """
    number = analyser + offset
    said = (await read_in_thread(len(text), whole_words, text, analyser))[:MOST_WORDS]
    others = (await read_in_thread(len(besides), ANALYSERS[analyser], besides))[:MOST_BESIDES]
    beginning = said[-1][0] if said and may_go_on(text, said) else None
    letter = scope_letter(scope.tenant_id, scope.owner_id, number)
    where = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id, "letter": letter}
    parts = [word for word in dict.fromkeys(chain(*said)) if len(word) >= SHORTEST_PART and word.isalpha()][:MOST_PARTS]
    rows = await connection.all(
        WORDS["read_words"], **where, parts=parts, compounding=list(COMPOUNDING),
        analysers=[each + offset for each in ANALYSERS],
        words=list(dict.fromkeys([*chain(*said), *others])) or [""], beginning=beginning,
        ending=beginning and beginning + LAST, longer=MOST_LONGER,
    )  # fmt: skip
    if not rows:
        return None
    if rows[0]["analyser"] != number:
        return await read(connection, scope, text, besides, statuses, rows[0]["analyser"] - offset, offset)
    pages, length = max(rows[0]["pages"], 1), max(rows[0]["words"], 1)
    reading = ReadQuery(letter, number, pages, length / pages, [], rows[0]["counted_at"], rows[0]["languages"])
    stems = reading.stems = lexemes_of(rows, reading.found)
    longer = [row for row in rows if row["origin"] == "longer"]
    compounds = compounds_of(rows, stems, reading.found)
    reading.parts = set(compounds)
    known = {word for word in stems if any(map(reading.found.get, stems[word]))}
    said = split_unknown(said, known | ({beginning} if beginning and longer else set()))
    words = reading.words = list(chain(*said))
    reading.unknown = {word for word in words if word in stems} - known
    reading.idle = {row["word"] for row in rows if row["lexeme"] is None}
    idle = without_unsaid(reading)
    going_on = open_options(reading, longer, stems) if beginning else []
    reading.forms = forms_of(beginning, longer, stems) if beginning else ()
    reading.relative = None if offset else await find_relative(connection, where, text, reading.unknown, statuses)
    fixes = {}
    wrong = [word for word in dict.fromkeys(words) if is_wrong(word, reading, bool(going_on))]
    if wrong and (wrong := (await without_common(wrong, rows[0]["languages"]))[:MOST_WRONG]):
        fixes = await correct_words(connection, where, reading, wrong, statuses)
    words = reading.words = without_wholes(said, fixes.keys())
    reading.corrected = {word: fix for word, fix in reading.corrected.items() if word in words}
    for place, word in enumerate(words):
        own = [Option(word, IDLE if word in idle else 1.0, stems[word])] if word in stems else []
        is_last = place == len(words) - 1
        options = [*own, *fixes.get(word, []), *(going_on if is_last else [])]
        spoken = {option.lexemes for option in options}
        reading.options.append([*options, *(one for one in compounds.get(word, []) if one.lexemes not in spoken)])
    return reading


def split_unknown(said: Sequence[tuple[str, ...]], known: Set[str]) -> list[tuple[str, ...]]:
    """Return the words of a query, each with its parts unless the wiki has it as a whole."""
    return [word[:1] if word[0] in known else word for word in said]


def without_wholes(said: Sequence[tuple[str, ...]], corrected: Set[str]) -> list[str]:
    """Return the words to look for: the parts of a word that no page has, unless the word as a whole is corrected."""
    return [one for word in said for one in (word[:1] if word[0] in corrected else word[1:] or word)]


def may_go_on(text: str, words: Sequence[tuple[str, ...]]) -> bool:
    """Return whether the last word may be unfinished."""
    return len(words) <= FEW_WORDS and text[-1:].isalnum() and not is_contracted(text)


def is_contracted(text: str) -> bool:
    """Return whether the text ends in a contraction or a possessive; such an ending is not completed."""
    return CONTRACTION.search(text) is not None


def lexemes_of(rows: Sequence[Row], found: dict[str, int]) -> dict[str, tuple[str, ...]]:
    """Return the lexemes of each word that has any, and add their numbers of pages to `found`."""
    stems: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["lexeme"] is not None and row["lexeme"] not in stems[row["word"]]:
            stems[row["word"]].append(row["lexeme"])
            found[row["lexeme"]] = row["found"]
    return {word: tuple(lexemes) for word, lexemes in stems.items() if lexemes}


def without_unsaid(reading: ReadQuery) -> set[str]:
    """Return the stop words of a query, and remove the lexemes of those that no page has."""
    idle = reading.idle_among(reading.words)
    for word in idle & reading.unknown:
        del reading.stems[word]
    reading.unknown -= idle
    return idle


def open_options(reading: ReadQuery, longer: Sequence[Row], stems: dict[str, tuple[str, ...]]) -> list[Option]:
    """Return the completions of the last word, the most common first and each lexeme once."""
    seen = set(stems.get(reading.words[-1], ()))
    options = []
    for row in sorted(longer, key=lambda row: (-row["found"], row["word"])):
        lexemes = tuple(lexeme for lexeme in stems.get(row["word"], ()) if lexeme not in seen)
        if lexemes and row["found"]:
            seen.update(lexemes)
            options.append(Option(row["word"], OPEN, lexemes))
    return options[: most_beside(stems.get(reading.words[-1], ()), reading.found)]


def most_beside(lexemes: Sequence[str], found: Mapping[str, int]) -> int:
    """Return how many longer words are used beside a word: the more pages have the word, the fewer."""
    known = max((found[lexeme] for lexeme in lexemes), default=0)
    return MOST_OPEN if not known else FEW_OPEN if known < COMMON else 0


def compounds_of(
    rows: Sequence[Row], stems: Mapping[str, tuple[str, ...]], found: Mapping[str, int]
) -> dict[str, list[Option]]:
    """Return, for each word, the compounds that end or begin with it: those that end with it first, then by pages."""
    words: defaultdict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    for row in sorted(rows, key=lambda row: (not row["is_end"], -row["found"], row["word"])):
        lexemes = stems.get(row["word"], ())
        if row["origin"] == "compound" and row["found"] and lexemes != stems.get(row["part"]):
            words[row["part"]].setdefault(lexemes, row["word"])
    every = {part: [Option(word, OPEN, lexemes) for lexemes, word in own.items()] for part, own in words.items()}
    return {part: options[: most_beside(stems.get(part, ()), found)] for part, options in every.items()}


def forms_of(last: str, longer: Sequence[Row], stems: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return other words with the stem of the last word: its completions, and the stem itself."""
    own = stems.get(last, ())
    others = [row["word"] for row in longer if not set(own).isdisjoint(stems.get(row["word"], ()))]
    return tuple(dict.fromkeys(form for form in [*others, *(lexeme[1:] for lexeme in own)] if form != last))


def is_wrong(word: str, reading: ReadQuery, goes_on: bool) -> bool:
    """Return whether the wiki lacks the word and the word has a length at which corrections are reliable."""
    if word not in reading.unknown or not word.isalpha() or (goes_on and word == reading.words[-1]):
        return False
    others_are_known = bool(set(reading.stems) - reading.unknown)
    return SHORTEST_WRONG - others_are_known <= len(word) <= LONGEST_WRONG


async def without_common(words: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Return the words without the common words of the languages, which are not typing errors."""
    known = await asyncio.to_thread(lambda: [common_words(language) for language in languages])
    return [word for word in words if not any(word in common for common in known)]


async def correct_words(
    connection: Connection, where: dict[str, object], reading: ReadQuery, wrong: Sequence[str], statuses: Sequence[str]
) -> dict[str, list[Option]]:
    """Return up to three corrections for each of the wrong words, and set `reading.corrected`.

    Corrections that no visible page has are dropped, so that a suggestion does not reveal the words of hidden pages.
    """
    rows = await connection.all(WORDS["mend_words"], **where, analyser=reading.analyser, words=list(wrong))
    if not (near := corrections(reading, rows)):
        return {}
    lexemes = {lexeme for options in near.values() for option in options for lexeme in option.lexemes}
    rare = {lexeme for lexeme in lexemes if reading.found[lexeme] <= BUDGET}
    find_said = WORDS["find_said_in_passages" if reading.analyser >= PASSAGES else "find_said"]
    rows = await connection.all(
        find_said, tenant_id=where["tenant_id"], owner_id=where["owner_id"], analyser=reading.analyser,
        lexemes=sorted(rare), statuses=list(statuses),
    )  # fmt: skip
    hidden = rare - {row["lexeme"] for row in rows}  # common words are assumed to have a visible page
    kept = {word: [one for one in options if not one.lexemes or set(one.lexemes) - hidden]
            for word, options in near.items()}  # fmt: skip
    fixes = {word: options[:MOST_FIXES] for word, options in kept.items() if options}
    reading.corrected = {word: options[0].word for word, options in fixes.items()}
    return fixes


def corrections(reading: ReadQuery, rows: Sequence[Row]) -> dict[str, list[Option]]:
    near: defaultdict[str, dict[str, tuple[float, Option]]] = defaultdict(dict)
    stems = lexemes_of(rows, reading.found)
    for row in rows:
        asked, word = row["asked"], row["word"]
        edits = edits_between(asked, word)
        is_there = row["found"] or (row["in_names"] and row["lexeme"] is None)
        if is_there and is_close(reading, asked, word, edits, row["in_names"]):
            doubt = edits - 0.1 * log10(1 + row["found"]) - 0.5 * row["in_names"]
            near[asked][word] = (doubt, Option(word, CORRECTED[edits], stems.get(word, ())))
    return {asked: [option for _, option in sorted(found.values())[:MOST_NEAR]] for asked, found in near.items()}


def edits_between(asked: str, word: str) -> int:
    """Return the Damerau-Levenshtein distance of two words.

    The library is imported when it is first needed, because the import takes longer than a search from the terminal.
    """
    from rapidfuzz.distance import DamerauLevenshtein

    return DamerauLevenshtein.distance(asked, word)


def is_close(reading: ReadQuery, asked: str, word: str, edits: int, in_names: bool) -> bool:
    """Return whether a word is a plausible correction: one edit, or two edits if the typed word is long enough."""
    if edits == 1:
        return True
    return edits == 2 and in_names and asked not in reading.parts and len(asked) >= two_edits_from(reading)


def two_edits_from(reading: ReadQuery) -> int:
    """Return the length from which a word may be corrected by two edits.

    It is larger for long queries and large wikis, and smaller if other words of the query are known.
    """
    words = set(reading.words)
    if len(reading.words) > SOME_WORDS:
        return 8
    if 1 < len(reading.words) <= 4 and len(reading.unknown) < len(words):
        return 5
    return 5 + (reading.pages > 1_000) + (reading.pages > 5_000) + (reading.pages > 100_000)
