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
from lib.threads import offload

from .interpretation import FEW_WORDS, InterpretedQuery, is_contracted
from .lexemes import MARK, PASSAGES, heading_mark, one_of, quoted, tag_mark, type_mark
from .names import COMPOUND, NameRange, unique_names
from .request import Filter, SearchRequest
from .weights import BUDGET, COMPLETION_TRUST, FEEDBACK, FEEDBACK_PAGES, HEAVIEST

RANKING = statements("search/ranking")
COMBINED_MAX = 7  # rarest lexemes that are combined to pairs and triples
FULL_QUESTION = 6  # words from which on a query is ranked by topic
SHORT_QUESTION, STOP_WORDS = 5, 3  # words and stop words with which a shorter query is, too


@dataclass(slots=True)
class RankingQuery:
    """The tsqueries, name ranges and weights by which the pages for a query are found and ranked.

    A missing tsquery is None and finds nothing. `wide` replaces `rare` if that finds too few pages. `agreed` adds pages
    that have no word of the query but to which the best pages link.
    """

    name_ranges: Sequence[NameRange]
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
        return bool(self.weights or self.name_ranges)

    @property
    def is_ranked_by_one_statement(self) -> bool:
        """Return whether one run of the plain ranking statement is enough, whatever it finds."""
        return self.finds_words and self.wide is None and not self.feedback

    @property
    def statement(self) -> Statement:
        """Return the statement that ranks the pages."""
        return RANKING["rank_pages_by_topic" if self.feedback else "rank_pages"]

    def values(self) -> dict[str, Any]:
        """Return the parameters of the ranking statements."""
        lexemes = sorted(self.weights, key=lambda lexeme: (-self.weights[lexeme], lexeme))[:HEAVIEST]
        return {
            "keys": [names.start for names in self.name_ranges],
            "key_ends": [names.end for names in self.name_ranges],
            "key_trusts": [names.trust for names in self.name_ranges],
            "key_worths": [names.bonus for names in self.name_ranges],
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


def build_ranking_query(
    interpreted: InterpretedQuery, text: str, required: str | None, title_only: bool
) -> RankingQuery:
    """Build the ranking query. `required` is a tsquery that every page must satisfy."""
    groups = [tuple(dict.fromkeys(x for option in options for x in option.lexemes)) for options in interpreted.options]
    stop_words = interpreted.stop_words_among(interpreted.words)
    significant = [
        group for word, group in zip(interpreted.words, groups, strict=True) if group and word not in stop_words
    ]
    weights, terms = weigh(interpreted)
    every = "&".join(one_of(group) for group in significant) or None
    rarest = sorted(weights, key=lambda lexeme: (max(1, interpreted.found[lexeme]), lexeme))
    rare = rare_enough(interpreted, rarest, BUDGET)
    wide = rarest_lexeme(interpreted, rarest, BUDGET)
    ranking_query = RankingQuery(
        name_ranges=unique_names(interpreted, text, weights),
        weights=weights,
        total=sum(max(weights[lexeme] for lexeme in group) for group in set(significant)) or 1.0,
        rare=all_of(rare, required),
        wide=all_of(wide, required) if wide else None,
        required=required,
        every=every,
        all=every if len(significant) > 1 else None,
        phrase=phrase_query(interpreted),
        heading=quoted(heading_mark(interpreted.letter, interpreted.corrected_text)) if interpreted.words else None,
        agreed=not (title_only or interpreted.corrected),
        terms=terms,
    )
    if title_only and weights:
        ranking_query.every = "|".join(map(quoted, weights)) or None
        ranking_query.rare = ranking_query.wide = None
    ranking_query.open, ranking_query.open_title = unfinished_names(interpreted, text)
    without_lexemes = sum(not group for group in groups)
    if len(significant) >= FULL_QUESTION or (len(significant) >= SHORT_QUESTION and without_lexemes >= STOP_WORDS):
        ranking_query.feedback = FEEDBACK / (1 - FEEDBACK) * sum(map(len, groups))
    return ranking_query


def weigh(interpreted: InterpretedQuery) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return the weight of each lexeme, and the terms that explain the weights.

    A weight is the sum, over the uses of the lexeme in the query, of rarity times trust.
    """
    weights: defaultdict[str, float] = defaultdict(float)
    terms = []
    for word, options in zip(interpreted.words, interpreted.options, strict=True):
        typed_rarity = max((interpreted.rarity(x) for option in options[:1] for x in option.lexemes), default=0.0)
        for option in options:
            for lexeme in option.lexemes:
                # A completion of an unfinished word weighs no more than the word as it was typed.
                rarity = interpreted.rarity(lexeme)
                if option.trust == COMPLETION_TRUST and typed_rarity:
                    rarity = min(rarity, typed_rarity)
                weight = option.trust * rarity
                weights[lexeme] += weight
                terms.append(
                    {"word": word, "lexeme": lexeme[1:], "pages": interpreted.found[lexeme], "weight": round(weight, 4)}
                )
    return dict(weights), terms


def rare_enough(interpreted: InterpretedQuery, lexemes: Sequence[str], budget: int) -> str | None:
    """Return a tsquery of single lexemes, else of pairs, else of triples, that finds no more pages than the budget.

    The rarest come first, as many as are expected to stay within the budget. Lexemes that are not counted yet are
    always included: the newest pages may have them, and looking for them costs nothing.
    """
    known = [lexeme for lexeme in lexemes if interpreted.found[lexeme] > 0]
    uncounted = [quoted(lexeme) for lexeme in lexemes if interpreted.found[lexeme] <= 0]
    return "|".join([*combine(interpreted, known, budget), *uncounted]) or None


def rarest_lexeme(interpreted: InterpretedQuery, lexemes: Sequence[str], budget: int) -> str | None:
    """Return the rarest lexeme if it exceeds the budget, so that `rare_enough` combines lexemes; else None."""
    known = [lexeme for lexeme in lexemes if interpreted.found[lexeme] > 0]
    return quoted(known[0]) if len(known) > 1 and interpreted.found[known[0]] > budget else None


def all_of(first: str | None, second: str | None) -> str | None:
    """Return a tsquery that requires both tsqueries, of which one or both may be missing."""
    return "&".join(f"({part})" for part in (first, second) if part) or None


def combine(interpreted: InterpretedQuery, lexemes: Sequence[str], budget: int) -> list[str]:
    """Return tsqueries of one, else two, else three lexemes each, in all for no more pages than the budget.

    Of the largest size at least one combination is returned, whatever the budget.
    """
    for size in (1, 2, 3):
        combined = lexemes if size == 1 else lexemes[:COMBINED_MAX]
        is_last = size == min(3, len(lexemes))
        total = 0.0
        taken: list[str] = []
        for pages, group in sorted(
            (expected_pages(interpreted, group), group) for group in combinations(combined, size)
        ):
            total += pages
            if total > budget and (taken or not is_last):
                break
            taken.append("&".join(map(quoted, group)))
        if taken:
            return taken
    return []


def expected_pages(interpreted: InterpretedQuery, group: Sequence[str]) -> float:
    """Return the expected number of pages with all lexemes of the group.

    Words of one query are assumed to occur together more often than chance, so the shares are raised.
    """
    first, *others = (interpreted.found[lexeme] / interpreted.pages for lexeme in group)
    return interpreted.pages * first * prod(min(1.0, len(group) * share) for share in others)


def phrase_query(interpreted: InterpretedQuery) -> str | None:
    """Return a tsquery of the words at their distances, or None for fewer than two words with lexemes.

    A word without lexemes may be any word.
    """
    places = [
        (place, [lexeme for option in options if option.trust > COMPLETION_TRUST for lexeme in option.lexemes])
        for place, options in enumerate(interpreted.options)
    ]
    significant = [(place, lexemes) for place, lexemes in places if lexemes]
    if len(significant) < 2:
        return None
    rest = "".join(f"<{after - before}>{one_of(lexemes)}" for (before, _), (after, lexemes) in pairwise(significant))
    return one_of(significant[0][1]) + rest


def unfinished_names(interpreted: InterpretedQuery, text: str) -> tuple[str | None, str | None]:
    """Return tsqueries for names that the text is the beginning of: for any name, and for the title only."""
    if not 0 < len(interpreted.words) <= FEW_WORDS or not text[-1:].isalnum():
        return None, None
    last, is_whole = interpreted.words[-1], is_contracted(text)
    if (len(last) < 2 and last.isascii() and not is_whole) or (
        COMPOUND.search(text) and last not in interpreted.unknown
    ):
        return None, None
    spelled = [[interpreted.letter + word] for word in interpreted.words]
    for place, options in enumerate(interpreted.options):
        corrections = [option.word for option in options if COMPLETION_TRUST < option.trust < 1]
        spelled[place] += [interpreted.letter + word for word in corrections]
    return prefix_query(spelled, is_whole=is_whole), prefix_query(spelled, "A", is_whole=is_whole)


def prefix_query(spelled: Sequence[Sequence[str]], weight: str = "", *, is_whole: bool = False) -> str:
    """Return a tsquery of all the words with this weight label; the last is a prefix unless it `is_whole`."""
    tag = weight and f":{weight}"
    whole = [one_of(words, tag) for words in spelled[:-1]]
    return "&".join([*whole, one_of(spelled[-1], tag if is_whole else f":*{weight}")])


NOTHING = ("nothing",)  # neither a type nor a status: no page matches it


def merge_filters(query: SearchQuery, client_filter: Filter) -> Filter:
    """Return a filter that requires both the conditions in the text of the query and the filter of the client."""
    return replace(
        client_filter,
        types=common(query.types, client_filter.types),
        excluded_types=(*query.excluded_types, *client_filter.excluded_types),
        tags=(*query.tags, *client_filter.tags),
        excluded_tags=(*query.excluded_tags, *client_filter.excluded_tags),
        statuses=common(query.statuses, client_filter.statuses) or ("active",),
        updated_after=max(filter(None, (query.updated_after, client_filter.updated_after)), default=None),
        updated_before=min(filter(None, (query.updated_before, client_filter.updated_before)), default=None),
        title_only=query.title_only or client_filter.title_only,
        strict=client_filter.strict,
    )


def common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values that both lists of alternatives allow; an empty list allows everything."""
    if not first or not second:
        return first or second
    return tuple(value for value in first if value in second) or NOTHING


def required_query(interpreted: InterpretedQuery, filters: Filter, query: SearchQuery) -> str | None:
    """Return the tsquery of the filters, phrases and exclusions, or None if there are none.

    A query without words gets a condition that all pages of the wiki satisfy, so that a tsquery of exclusions alone
    still finds pages.
    """
    positive_queries = list(required_queries(interpreted, filters, query.phrases))
    negative_queries = list(excluded_queries(interpreted, filters, query.excluded))
    if not positive_queries and not interpreted.words:
        positive_queries = [quoted(interpreted.letter + MARK)]
    return "&".join([*positive_queries, *(f"!{refusal}" for refusal in negative_queries)]) or None


def required_queries(interpreted: InterpretedQuery, filters: Filter, phrases: Sequence[str]) -> Iterator[str]:
    if filters.types:
        yield one_of(type_mark(interpreted.letter, type_) for type_ in filters.types)
    for tag in filters.tags:
        yield quoted(tag_mark(interpreted.letter, tag))
    for text in phrases:
        yield from phrase_queries(interpreted, text)


def excluded_queries(interpreted: InterpretedQuery, filters: Filter, excluded: Sequence[str]) -> Iterator[str]:
    for type_ in filters.excluded_types:
        yield quoted(type_mark(interpreted.letter, type_))
    for tag in filters.excluded_tags:
        yield quoted(tag_mark(interpreted.letter, tag))
    for text in excluded:
        yield from phrase_queries(interpreted, text)


def phrase_queries(interpreted: InterpretedQuery, text: str) -> Iterator[str]:
    """Yield a tsquery for the words of a phrase at their distances; a stop word of the phrase may be any word."""
    words = ANALYSERS[interpreted.analyser % PASSAGES](text)
    stop_words = interpreted.stop_words_among(words)
    significant = [
        (place, lexemes)
        for place, word in enumerate(words)
        if word not in stop_words and (lexemes := interpreted.lexemes_of(word))
    ]
    if significant:
        rest = "".join(f"<{after - before}>{one_of(group)}" for (before, _), (after, group) in pairwise(significant))
        yield f"({one_of(significant[0][1])}{rest})"


CACHE_SIZE, LONGEST = 2_000, 200  # queries that a process caches, and characters of the longest


class ParsedRequest(NamedTuple):
    """A search request with its text parsed.

    `filter` merges the conditions in the text with the filter of the request. `has_conditions` says whether there are
    phrases, exclusions or filters.
    """

    query: SearchQuery
    filter: Filter
    word_count: int
    has_conditions: bool

    @property
    def is_searchable(self) -> bool:
        """Return whether the request has words, phrases, exclusions or filters."""
        return self.word_count > 0 or self.has_conditions


async def parse_request(request: SearchRequest) -> ParsedRequest:
    """Parse the text of a request. Short texts are cached, because the same ones are searched often."""
    if len(request.text) <= LONGEST:
        return parse_cached_request(request.text, request.filter)
    return await offload(len(request.text), parse_text_and_filter, request.text, request.filter)


async def parse_query(text: str) -> SearchQuery:
    """Parse the text of a query. It is cached, because pages and passages are often searched by the same text."""
    return await offload(len(text), parse_text, text)


def parse_text(text: str) -> SearchQuery:
    return understand_cached(text) if len(text) <= LONGEST else understand(text)


def parse_text_and_filter(text: str, client_filter: Filter) -> ParsedRequest:
    query = parse_text(text)
    has_conditions = replace(query, words="") != SearchQuery() or client_filter != Filter()
    return ParsedRequest(query, merge_filters(query, client_filter), len(words(query.words)), has_conditions)


parse_cached_request = lru_cache(maxsize=CACHE_SIZE)(parse_text_and_filter)
understand_cached = lru_cache(maxsize=CACHE_SIZE)(understand)
