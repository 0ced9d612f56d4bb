"""The parameters of ranking: tsqueries that find the candidate pages, and a weight for each lexeme."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations, pairwise
from math import prod
from typing import Any, NamedTuple

from content.search.search_query import SearchQuery, understand
from content.search.words import ANALYSERS, words
from db.sql import Statement, statements
from lib.threads import read_in_thread

from .interpretation import FEW_WORDS, ReadQuery, is_contracted
from .lexemes import MARK, PASSAGES, heading_mark, one_of, quoted, tag_mark, type_mark
from .names import COMPOUND, NameRange, keys
from .request import Filter, SearchRequest
from .weights import BUDGET, FEEDBACK, FEEDBACK_PAGES, HEAVIEST, OPEN

RANKING = statements("search/ranking")
MOST_COMBINED = 7  # rarest lexemes that are combined to pairs and triples
FULL_QUESTION = 6  # words from which on a query is ranked by topic
SHORT_QUESTION, STOP_WORDS = 5, 3  # words and stop words with which a shorter query is, too


@dataclass(slots=True)
class RankedQuery:
    """The tsqueries, name ranges and weights by which the pages for a query are found and ranked.

    A missing tsquery is None and finds nothing. `wide` replaces `rare` if that finds too few pages. `agreed` adds pages
    that have no word of the query but to which the best pages link.
    """

    keys: Sequence[NameRange]
    weights: dict[str, float]
    total: float
    rare: str | None = None
    wide: str | None = None
    required: str | None = None
    every: str | None = None
    all: str | None = None
    phrase: str | None = None
    heading: str | None = None
    open: str | None = None
    open_title: str | None = None
    feedback: float = 0.0
    agreed: bool = False
    terms: list[dict[str, Any]] = field(default_factory=list)

    @property
    def finds_words(self) -> bool:
        """Return whether the query has words or names. Without them pages are listed, not ranked."""
        return bool(self.weights or self.keys)

    @property
    def is_ranked_at_once(self) -> bool:
        """Return whether one run of the plain ranking statement is enough, whatever it finds."""
        return self.finds_words and self.wide is None and not self.feedback

    @property
    def ranking(self) -> Statement:
        """Return the statement that ranks the pages."""
        return RANKING["rank_pages_by_topic" if self.feedback else "rank_pages"]

    def values(self) -> dict[str, Any]:
        """Return the parameters of the ranking statements."""
        lexemes = sorted(self.weights, key=lambda lexeme: (-self.weights[lexeme], lexeme))[:HEAVIEST]
        return {
            "keys": [key.start for key in self.keys],
            "key_ends": [key.end for key in self.keys],
            "key_trusts": [key.trust for key in self.keys],
            "key_worths": [key.worth for key in self.keys],
            "heading": self.heading,
            "lexemes": [quoted(lexeme) for lexeme in lexemes],
            "weights": [self.weights[lexeme] for lexeme in lexemes],
            "any": "|".join(map(quoted, self.weights)) or None,
            "total": self.total,
            "w_feedback": self.feedback,
            "feedback_pages": FEEDBACK_PAGES,
            "rare": self.rare,
            "required": self.required,
            "called": "|".join(f"({part})" for part in (self.every, self.open) if part) or None,
            "all": self.all,
            "phrase": self.phrase,
            "open": self.open,
            "open_title": self.open_title,
            "agreed": self.agreed,
        }


def question(reading: ReadQuery, text: str, required: str | None, title_only: bool) -> RankedQuery:
    """Build the ranking query. `required` is a tsquery that every page must satisfy."""
    groups = [tuple(dict.fromkeys(x for option in options for x in option.lexemes)) for options in reading.options]
    idle = reading.idle_among(reading.words)
    spoken = [(place, group) for place, group in enumerate(groups) if group and reading.words[place] not in idle]
    weights, terms = weigh(reading)
    every = "&".join(one_of(group) for _, group in spoken) or None
    rarest = sorted(weights, key=lambda lexeme: (max(1, reading.found[lexeme]), lexeme))
    rare, wide = rare_enough(reading, rarest, BUDGET), rarest_lexemes(reading, rarest, BUDGET)
    asked = RankedQuery(
        keys=keys(reading, text, weights),
        weights=weights,
        total=sum(max(weights[lexeme] for lexeme in group) for group in {group for _, group in spoken}) or 1.0,
        rare=both(rare, required),
        wide=both(wide, required) if wide else None,
        required=required,
        every=every,
        all=every if len(spoken) > 1 else None,
        phrase=phrase(reading),
        heading=quoted(heading_mark(reading.letter, reading.mended_text)) if reading.words else None,
        agreed=not (title_only or reading.corrected),
        terms=terms,
    )
    if title_only and weights:
        asked.every, asked.rare, asked.wide = "|".join(map(quoted, weights)) or None, None, None
    asked.open, asked.open_title = unfinished_names(reading, text)
    stop_words = sum(not group for group in groups)
    if len(spoken) >= FULL_QUESTION or (len(spoken) >= SHORT_QUESTION and stop_words >= STOP_WORDS):
        asked.feedback = FEEDBACK / (1 - FEEDBACK) * sum(map(len, groups))
    return asked


def weigh(reading: ReadQuery) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return the weight of each lexeme, and the terms that explain the weights.

    A weight is the sum, over the uses of the lexeme in the query, of rarity times trust.
    """
    weights: defaultdict[str, float] = defaultdict(float)
    terms = []
    for word, options in zip(reading.words, reading.options, strict=True):
        own = max((reading.rarity(x) for option in options[:1] for x in option.lexemes), default=0.0)
        for option in options:
            for lexeme in option.lexemes:
                # A completion of an unfinished word weighs no more than the word as it was typed.
                rarity = reading.rarity(lexeme)
                weight = option.trust * (min(rarity, own) if option.trust == OPEN and own else rarity)
                weights[lexeme] += weight
                terms.append(
                    {"word": word, "lexeme": lexeme[1:], "pages": reading.found[lexeme], "weight": round(weight, 4)}
                )
    return dict(weights), terms


def rare_enough(reading: ReadQuery, lexemes: Sequence[str], budget: int) -> str | None:
    """Return a tsquery of single lexemes, else of pairs, else of triples, that finds no more pages than the budget.

    The rarest come first, as many as are expected to stay within the budget. Lexemes that are not counted yet are
    always included: the newest pages may have them, and looking for them costs nothing.
    """
    known = [lexeme for lexeme in lexemes if reading.found[lexeme] > 0]
    uncounted = [quoted(lexeme) for lexeme in lexemes if reading.found[lexeme] <= 0]
    return "|".join([*combine(reading, known, budget), *uncounted]) or None


def rarest_lexemes(reading: ReadQuery, lexemes: Sequence[str], budget: int) -> str | None:
    """Return the rarest lexeme if it exceeds the budget, so that `rare_enough` combines lexemes; else None."""
    known = [lexeme for lexeme in lexemes if reading.found[lexeme] > 0]
    return quoted(known[0]) if len(known) > 1 and reading.found[known[0]] > budget else None


def both(some: str | None, others: str | None) -> str | None:
    return "&".join(f"({part})" for part in (some, others) if part) or None


def combine(reading: ReadQuery, lexemes: Sequence[str], budget: int) -> list[str]:
    for size in (1, 2, 3):
        some = lexemes if size == 1 else lexemes[:MOST_COMBINED]
        is_last = size == min(3, len(lexemes))
        expected, taken = 0.0, list[str]()
        for pages, group in sorted((expectation(reading, group), group) for group in combinations(some, size)):
            expected += pages
            if expected > budget and (taken or not is_last):
                break
            taken.append("&".join(map(quoted, group)))
        if taken:
            return taken
    return []


def expectation(reading: ReadQuery, group: Sequence[str]) -> float:
    """Return the expected number of pages with all lexemes of the group.

    Words of one query are assumed to occur together more often than chance, so the shares are raised.
    """
    first, *others = (reading.found[lexeme] / reading.pages for lexeme in group)
    return reading.pages * first * prod(min(1.0, len(group) * share) for share in others)


def phrase(reading: ReadQuery) -> str | None:
    """Return a tsquery of the words at their distances, or None for fewer than two words with lexemes.

    A word without lexemes may be any word.
    """
    places = [
        (place, [lexeme for option in options if option.trust > OPEN for lexeme in option.lexemes])
        for place, options in enumerate(reading.options)
    ]
    spoken = [(place, lexemes) for place, lexemes in places if lexemes]
    if len(spoken) < 2:
        return None
    rest = "".join(f"<{after - before}>{one_of(lexemes)}" for (before, _), (after, lexemes) in pairwise(spoken))
    return one_of(spoken[0][1]) + rest


def unfinished_names(reading: ReadQuery, text: str) -> tuple[str | None, str | None]:
    """Return tsqueries for names that the text is the beginning of: for any name, and for the title only."""
    if not 0 < len(reading.words) <= FEW_WORDS or not text[-1:].isalnum():
        return None, None
    last, is_whole = reading.words[-1], is_contracted(text)
    if (len(last) < 2 and last.isascii() and not is_whole) or (COMPOUND.search(text) and last not in reading.unknown):
        return None, None
    spelled = [[reading.letter + word] for word in reading.words]
    for place, options in enumerate(reading.options):
        spelled[place] += [reading.letter + option.word for option in options if OPEN < option.trust < 1]
    return going_on(spelled, is_whole=is_whole), going_on(spelled, "A", is_whole=is_whole)


def going_on(spelled: Sequence[Sequence[str]], weight: str = "", *, is_whole: bool = False) -> str:
    """Return a tsquery of all the words with this weight label; the last is a prefix unless it `is_whole`."""
    tag = weight and f":{weight}"
    whole = [one_of(words, tag) for words in spelled[:-1]]
    return "&".join([*whole, one_of(spelled[-1], tag if is_whole else f":*{weight}")])


NOTHING = ("nothing",)  # neither a type nor a status: no page matches it


def merge_filters(query: SearchQuery, given: Filter) -> Filter:
    """Return a filter that requires both the conditions in the text of the query and the filter of the client."""
    return replace(
        given,
        types=common(query.types, given.types),
        excluded_types=(*query.excluded_types, *given.excluded_types),
        tags=(*query.tags, *given.tags),
        excluded_tags=(*query.excluded_tags, *given.excluded_tags),
        statuses=common(query.statuses, given.statuses) or ("active",),
        updated_after=max(filter(None, (query.updated_after, given.updated_after)), default=None),
        updated_before=min(filter(None, (query.updated_before, given.updated_before)), default=None),
        title_only=query.title_only or given.title_only,
        strict=given.strict,
    )


def common(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values that both lists of alternatives allow; an empty list allows everything."""
    return tuple(one for one in some if one in others) or NOTHING if some and others else some or others


def required_query(reading: ReadQuery, wanted: Filter, query: SearchQuery) -> str | None:
    """Return the tsquery of the filters, phrases and exclusions, or None if there are none.

    A query without words gets a condition that all pages of the wiki satisfy, so that a tsquery of exclusions alone
    still finds pages.
    """
    demands = list(positive(reading, wanted, query.phrases))
    refusals = list(negative(reading, wanted, query.excluded))
    if not demands and not reading.words:
        demands = [quoted(reading.letter + MARK)]
    return "&".join([*demands, *(f"!{refusal}" for refusal in refusals)]) or None


def positive(reading: ReadQuery, wanted: Filter, phrases: Sequence[str]) -> Iterator[str]:
    if wanted.types:
        yield one_of(type_mark(reading.letter, type_) for type_ in wanted.types)
    for tag in wanted.tags:
        yield quoted(tag_mark(reading.letter, tag))
    for text in phrases:
        yield from phrase_queries(reading, text)


def negative(reading: ReadQuery, wanted: Filter, excluded: Sequence[str]) -> Iterator[str]:
    for type_ in wanted.excluded_types:
        yield quoted(type_mark(reading.letter, type_))
    for tag in wanted.excluded_tags:
        yield quoted(tag_mark(reading.letter, tag))
    for text in excluded:
        yield from phrase_queries(reading, text)


def phrase_queries(reading: ReadQuery, text: str) -> Iterator[str]:
    """Yield a tsquery for the words of a phrase at their distances; a stop word of the phrase may be any word."""
    words = ANALYSERS[reading.analyser % PASSAGES](text)
    idle = reading.idle_among(words)
    spoken = [
        (place, lexemes) for place, word in enumerate(words) if word not in idle and (lexemes := reading.meant(word))
    ]
    if spoken:
        rest = "".join(f"<{after - before}>{one_of(group)}" for (before, _), (after, group) in pairwise(spoken))
        yield f"({one_of(spoken[0][1])}{rest})"


CACHE_SIZE, LONGEST = 2_000, 200  # queries that a process caches, and characters of the longest


class Meaning(NamedTuple):
    """A search request with its text parsed.

    `wanted` merges the conditions in the text with the filter of the request, `words` is the number of words to look
    for, and `narrows` says whether there are phrases, exclusions or filters.
    """

    query: SearchQuery
    wanted: Filter
    words: int
    narrows: bool

    @property
    def says_anything(self) -> bool:
        """Return whether the request has words, phrases, exclusions or filters."""
        return self.words > 0 or self.narrows


async def meaning(asked: SearchRequest) -> Meaning:
    """Parse the text of a request. Short texts are cached, because the same ones are searched often."""
    if len(asked.text) <= LONGEST:
        return kept(asked.text, asked.filter)
    return await read_in_thread(len(asked.text), read, asked.text, asked.filter)


async def query_of(text: str) -> SearchQuery:
    """Parse the text of a query. It is cached, because pages and passages are often searched by the same text."""
    return await read_in_thread(len(text), in_parts, text)


def in_parts(text: str) -> SearchQuery:
    return kept_parts(text) if len(text) <= LONGEST else understand(text)


def read(text: str, given: Filter) -> Meaning:
    query = in_parts(text)
    narrows = replace(query, words="") != SearchQuery() or given != Filter()
    return Meaning(query, merge_filters(query, given), len(words(query.words)), narrows)


kept = lru_cache(maxsize=CACHE_SIZE)(read)
kept_parts = lru_cache(maxsize=CACHE_SIZE)(understand)
