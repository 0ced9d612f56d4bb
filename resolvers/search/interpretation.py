"""The interpretation of a query in one wiki: lexemes, completions of an unfinished last word, corrections of typos."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, groupby
from math import log1p, log10
from typing import NamedTuple

from content.languages import COMPOUNDING, common_words
from content.search.words import ANALYSER, ANALYSERS, spans, whole_words
from db.connection import Connection, Row
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from .codes import find_nearby_code
from .lexemes import PASSAGES, scope_letter
from .weights import BUDGET, COMPLETION_TRUST, CORRECTION_TRUST, STOP_WORD_TRUST

WORDS = statements("search/words")
LAST = "\U0010ffff"
# `what's`, `don't`, `I'll`: the end of a contraction is a whole word. In `O'S` and `l'e` the last word is unfinished.
CONTRACTION = re.compile(r"(?:\w\w|\bi)['’‘ʼ＇](?:s|t|d|m|ll|re|ve)$", re.IGNORECASE)
WORDS_MAX, CONDITION_WORDS_MAX = 64, 1_000  # words of a query, and of its phrases and exclusions, that are interpreted
FEW_WORDS, SOME_WORDS = 6, 8  # words up to which the last may be unfinished, and short ones corrected by two edits
COMPLETIONS_FETCHED = 24  # completions that are fetched
COMPLETIONS_MAX, COMPLETIONS_FEW = 5, 2  # completions that are used for an unknown and for a known last word
COMMON = 50  # pages; a word that at least so many have is not completed
PART_MIN, PARTS_MAX = 5, 8  # letters of a word that is looked for in compounds, and the number of such words
MISSPELLED_MAX = 4  # words that are corrected
CANDIDATES_MAX, FIXES_MAX = 6, 3  # corrections of a word that are considered, and that are used
MISSPELLED_SHORTEST, MISSPELLED_LONGEST = 4, 32  # characters of a correctable word; one less if other words are known


class Option(NamedTuple):
    """A word that a word of the query may stand for, with its lexemes. `trust` (0 to 1) scales their weight."""

    word: str
    trust: float
    lexemes: tuple[str, ...]


@dataclass(slots=True)
class InterpretedQuery:
    """A query as interpreted by the word counts of one wiki at `counted_at`.

    `options` has an entry for each word of the query, in its order. `forms` are other forms of its last word, and
    `nearby_name` is an existing name near to a code that no page contains. `stop_words` are stop words in one of the
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
    stop_words: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    forms: tuple[str, ...] = ()
    nearby_name: str | None = None

    def rarity(self, lexeme: str) -> float:
        """Return the inverse document frequency of BM25."""
        found = max(self.found.get(lexeme, 0), 1)
        return log1p(max(0.0, self.pages - found + 0.5) / (found + 0.5))

    def lexemes_of(self, word: str) -> tuple[str, ...]:
        """Return the lexemes of a word, and those of its corrections."""
        if word not in self.corrected:
            return self.stems.get(word, ())
        options = self.options[self.words.index(word)]
        corrections = [option for option in options if option.trust > COMPLETION_TRUST]
        return tuple(dict.fromkeys(lexeme for option in corrections for lexeme in option.lexemes))

    def stop_words_among(self, words: Sequence[str]) -> set[str]:
        """Return the words that are stop words in one of the languages; none if all known words are."""
        known = self.stems.keys() & set(words)
        return known & self.stop_words if known - self.stop_words else set()

    @property
    def corrected_text(self) -> str:
        """The words of the query, with corrections in the place of mistyped words."""
        return " ".join(self.corrected.get(word, word) for word in self.words)

    def did_you_mean(self, text: str) -> str | None:
        """Return the text with corrections in the place of mistyped words, or None if no word was corrected."""
        if not self.corrected:
            return None
        pieces, at = [], 0
        for (start, end), parts in groupby(spans(text), key=lambda word: word[1:]):
            written = [word.text for word in parts]
            if not self.corrected.keys().isdisjoint(written):
                corrected = [self.corrected.get(word, word) for word in written if word in self.words]
                pieces += [text[at:start], " ".join(corrected)]
                at = end
        return "".join([*pieces, text[at:]])


async def interpret_query(
    connection: Connection,
    scope: Scope,
    text: str,
    condition_text: str = "",
    statuses: Sequence[str] = ("active",),
    analyser: int = ANALYSER,
    offset: int = 0,
) -> InterpretedQuery | None:
    """Interpret the text of a query in a wiki; return None if the wiki has no index yet.

    For the words of `condition_text`, the phrases and exclusions, only the lexemes are found. Mistyped words are
    corrected with words of pages of these statuses. An `offset` of PASSAGES selects the index of passages.
    """
    number = analyser + offset
    word_parts = (await offload(len(text), whole_words, text, analyser))[:WORDS_MAX]
    condition_words = await offload(len(condition_text), ANALYSERS[analyser], condition_text)
    condition_words = condition_words[:CONDITION_WORDS_MAX]
    unfinished = word_parts[-1][0] if word_parts and may_be_unfinished(text, word_parts) else None
    letter = scope_letter(scope.tenant_id, scope.owner_id, number)
    where = {**scope.wiki_values, "letter": letter}
    parts = [word for word in dict.fromkeys(chain(*word_parts)) if len(word) >= PART_MIN and word.isalpha()][:PARTS_MAX]
    rows = await connection.all(
        WORDS["read_words"], **where, parts=parts, compounding=list(COMPOUNDING),
        analysers=[each + offset for each in ANALYSERS],
        words=list(dict.fromkeys([*chain(*word_parts), *condition_words])) or [""], beginning=unfinished,
        ending=unfinished and unfinished + LAST, longer=COMPLETIONS_FETCHED,
    )  # fmt: skip
    if not rows:
        return None
    if rows[0]["analyser"] != number:
        older = rows[0]["analyser"] - offset
        return await interpret_query(connection, scope, text, condition_text, statuses, older, offset)
    pages, length = max(rows[0]["pages"], 1), max(rows[0]["words"], 1)
    interpreted = InterpretedQuery(
        letter, number, pages, length / pages, [], rows[0]["counted_at"], rows[0]["languages"]
    )
    stems = interpreted.stems = lexemes_of(rows, interpreted.found)
    longer = [row for row in rows if row["origin"] == "longer"]
    compounds = compounds_of(rows, stems, interpreted.found)
    interpreted.parts = set(compounds)
    known = {word for word in stems if any(map(interpreted.found.get, stems[word]))}
    word_parts = split_unknown_words(word_parts, known | ({unfinished} if unfinished and longer else set()))
    words = interpreted.words = list(chain(*word_parts))
    interpreted.unknown = {word for word in words if word in stems} - known
    interpreted.stop_words = {row["word"] for row in rows if row["lexeme"] is None}
    stop_words = drop_unused_stop_words(interpreted)
    completions = completion_options(interpreted, longer, stems) if unfinished else []
    interpreted.forms = other_forms(unfinished, longer, stems) if unfinished else ()
    if not offset:
        interpreted.nearby_name = await find_nearby_code(connection, where, text, interpreted.unknown, statuses)
    fixes = {}
    misspelled = [word for word in dict.fromkeys(words) if is_misspelled(word, interpreted, bool(completions))]
    if misspelled and (misspelled := (await without_common(misspelled, rows[0]["languages"]))[:MISSPELLED_MAX]):
        fixes = await correct_words(connection, where, interpreted, misspelled, statuses)
    words = interpreted.words = words_to_search(word_parts, fixes.keys())
    interpreted.corrected = {word: fix for word, fix in interpreted.corrected.items() if word in words}
    for place, word in enumerate(words):
        as_typed = [Option(word, STOP_WORD_TRUST if word in stop_words else 1.0, stems[word])] if word in stems else []
        is_last = place == len(words) - 1
        options = [*as_typed, *fixes.get(word, []), *(completions if is_last else [])]
        seen = {option.lexemes for option in options}
        options += [option for option in compounds.get(word, []) if option.lexemes not in seen]
        interpreted.options.append(options)
    return interpreted


def split_unknown_words(word_parts: Sequence[tuple[str, ...]], known: Set[str]) -> list[tuple[str, ...]]:
    """Return the words of a query, each with its parts unless the wiki has it as a whole."""
    return [word[:1] if word[0] in known else word for word in word_parts]


def words_to_search(word_parts: Sequence[tuple[str, ...]], corrected: Set[str]) -> list[str]:
    """Return the words to look for: the parts of a word that no page has, unless the word as a whole is corrected."""
    return [part for word in word_parts for part in (word[:1] if word[0] in corrected else word[1:] or word)]


def may_be_unfinished(text: str, words: Sequence[tuple[str, ...]]) -> bool:
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


def drop_unused_stop_words(interpreted: InterpretedQuery) -> set[str]:
    """Return the stop words of a query, and remove the lexemes of those that no page has."""
    stop_words = interpreted.stop_words_among(interpreted.words)
    for word in stop_words & interpreted.unknown:
        del interpreted.stems[word]
    interpreted.unknown -= stop_words
    return stop_words


def completion_options(
    interpreted: InterpretedQuery, longer: Sequence[Row], stems: dict[str, tuple[str, ...]]
) -> list[Option]:
    """Return the completions of the last word, the most common first and each lexeme once."""
    seen = set(stems.get(interpreted.words[-1], ()))
    options = []
    for row in sorted(longer, key=lambda row: (-row["found"], row["word"])):
        lexemes = tuple(lexeme for lexeme in stems.get(row["word"], ()) if lexeme not in seen)
        if lexemes and row["found"]:
            seen.update(lexemes)
            options.append(Option(row["word"], COMPLETION_TRUST, lexemes))
    return options[: max_completions(stems.get(interpreted.words[-1], ()), interpreted.found)]


def max_completions(lexemes: Sequence[str], found: Mapping[str, int]) -> int:
    """Return how many longer words are used beside a word: the more pages have the word, the fewer."""
    known = max((found[lexeme] for lexeme in lexemes), default=0)
    return COMPLETIONS_MAX if not known else COMPLETIONS_FEW if known < COMMON else 0


def compounds_of(
    rows: Sequence[Row], stems: Mapping[str, tuple[str, ...]], found: Mapping[str, int]
) -> dict[str, list[Option]]:
    """Return, for each word, the compounds that end or begin with it: those that end with it first, then by pages."""
    words: defaultdict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    for row in sorted(rows, key=lambda row: (not row["is_end"], -row["found"], row["word"])):
        lexemes = stems.get(row["word"], ())
        if row["origin"] == "compound" and row["found"] and lexemes != stems.get(row["part"]):
            words[row["part"]].setdefault(lexemes, row["word"])
    options = {
        part: [Option(word, COMPLETION_TRUST, lexemes) for lexemes, word in compounds.items()]
        for part, compounds in words.items()
    }
    return {part: each[: max_completions(stems.get(part, ()), found)] for part, each in options.items()}


def other_forms(last: str, longer: Sequence[Row], stems: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return other words with the stem of the last word: its completions, and the stem itself."""
    lexemes = stems.get(last, ())
    same_stem = [row["word"] for row in longer if not set(lexemes).isdisjoint(stems.get(row["word"], ()))]
    return tuple(dict.fromkeys(form for form in [*same_stem, *(lexeme[1:] for lexeme in lexemes)] if form != last))


def is_misspelled(word: str, interpreted: InterpretedQuery, goes_on: bool) -> bool:
    """Return whether the wiki lacks the word and the word has a length at which corrections are reliable."""
    if word not in interpreted.unknown or not word.isalpha() or (goes_on and word == interpreted.words[-1]):
        return False
    others_are_known = bool(set(interpreted.stems) - interpreted.unknown)
    return MISSPELLED_SHORTEST - others_are_known <= len(word) <= MISSPELLED_LONGEST


async def without_common(words: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Return the words without the common words of the languages, which are not typing errors."""
    known = await asyncio.to_thread(lambda: [common_words(language) for language in languages])
    return [word for word in words if not any(word in common for common in known)]


async def correct_words(
    connection: Connection,
    where: dict[str, object],
    interpreted: InterpretedQuery,
    misspelled: Sequence[str],
    statuses: Sequence[str],
) -> dict[str, list[Option]]:
    """Return up to three corrections for each of the misspelled words, and set `interpreted.corrected`.

    Corrections that no visible page has are dropped, so that a suggestion does not reveal the words of hidden pages.
    """
    rows = await connection.all(WORDS["mend_words"], **where, analyser=interpreted.analyser, words=list(misspelled))
    if not (candidates := corrections(interpreted, rows)):
        return {}
    lexemes = {lexeme for options in candidates.values() for option in options for lexeme in option.lexemes}
    rare = {lexeme for lexeme in lexemes if interpreted.found[lexeme] <= BUDGET}
    find_statement = WORDS["find_said_in_passages" if interpreted.analyser >= PASSAGES else "find_said"]
    rows = await connection.all(
        find_statement, tenant_id=where["tenant_id"], owner_id=where["owner_id"], analyser=interpreted.analyser,
        lexemes=sorted(rare), statuses=list(statuses),
    )  # fmt: skip
    invisible = rare - {row["lexeme"] for row in rows}  # common words are assumed to have a visible page
    visible = {
        word: [option for option in options if not option.lexemes or set(option.lexemes) - invisible]
        for word, options in candidates.items()
    }
    fixes = {word: options[:FIXES_MAX] for word, options in visible.items() if options}
    interpreted.corrected = {word: options[0].word for word, options in fixes.items()}
    return fixes


def corrections(interpreted: InterpretedQuery, rows: Sequence[Row]) -> dict[str, list[Option]]:
    """Return for each typed word its possible corrections: those with few edits first, then common words and names."""
    candidates: defaultdict[str, dict[str, tuple[float, Option]]] = defaultdict(dict)
    stems = lexemes_of(rows, interpreted.found)
    for row in rows:
        typed, word = row["asked"], row["word"]
        edits = edits_between(typed, word)
        is_there = row["found"] or (row["in_names"] and row["lexeme"] is None)
        if is_there and is_close(interpreted, typed, word, edits, row["in_names"]):
            doubt = edits - 0.1 * log10(1 + row["found"]) - 0.5 * row["in_names"]
            candidates[typed][word] = (doubt, Option(word, CORRECTION_TRUST[edits], stems.get(word, ())))
    return {
        typed: [option for _, option in sorted(found.values())[:CANDIDATES_MAX]] for typed, found in candidates.items()
    }


def edits_between(typed: str, word: str) -> int:
    """Return the Damerau-Levenshtein distance of two words.

    The library is imported when it is first needed, because the import takes longer than a search from the terminal.
    """
    from rapidfuzz.distance import DamerauLevenshtein

    return DamerauLevenshtein.distance(typed, word)


def is_close(interpreted: InterpretedQuery, typed: str, word: str, edits: int, in_names: bool) -> bool:
    """Return whether a word is a plausible correction: one edit, or two edits if the typed word is long enough."""
    if edits == 1:
        return True
    return edits == 2 and in_names and typed not in interpreted.parts and len(typed) >= two_edits_from(interpreted)


def two_edits_from(interpreted: InterpretedQuery) -> int:
    """Return the length from which a word may be corrected by two edits.

    It is larger for long queries and large wikis, and smaller if other words of the query are known.
    """
    words = set(interpreted.words)
    if len(interpreted.words) > SOME_WORDS:
        return 8
    if 1 < len(interpreted.words) <= 4 and len(interpreted.unknown) < len(words):
        return 5
    return 5 + (interpreted.pages > 1_000) + (interpreted.pages > 5_000) + (interpreted.pages > 100_000)
