"""What a page must be and say to be an answer, as one tsquery over its words and marks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from content.search_query import SearchQuery
from content.words import ANALYSERS

from .lexemes import MARK, one_of, quoted, tag_mark, type_mark
from .reading import Reading
from .results import Filter

NOTHING = ("nothing",)  # neither a type nor a status


def merged(query: SearchQuery, given: Filter) -> Filter:
    """What the question says and what the client asked for: all of it holds."""
    return replace(
        given,
        types=both(query.types, given.types),
        excluded_types=(*query.excluded_types, *given.excluded_types),
        tags=(*query.tags, *given.tags),
        excluded_tags=(*query.excluded_tags, *given.excluded_tags),
        statuses=both(query.statuses, given.statuses) or ("active",),
        updated_after=max(filter(None, (query.updated_after, given.updated_after)), default=None),
        updated_before=min(filter(None, (query.updated_before, given.updated_before)), default=None),
        title_only=query.title_only or given.title_only,
    )


def both(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """What two lists of alternatives both allow; an empty one allows everything."""
    return tuple(one for one in some if one in others) or NOTHING if some and others else some or others


def required(reading: Reading, wanted: Filter, query: SearchQuery) -> str | None:
    """None when any page that says the words will do. Without words there is always something that finds pages."""
    demands = list(positive(reading, wanted, query.phrases))
    refusals = list(negative(reading, wanted, query.excluded))
    if not demands and not reading.words:
        demands = [quoted(reading.letter + MARK)]
    return "&".join([*demands, *(f"!{refusal}" for refusal in refusals)]) or None


def positive(reading: Reading, wanted: Filter, phrases: Sequence[str]) -> Iterator[str]:
    if wanted.types:
        yield one_of(type_mark(reading.letter, type_) for type_ in wanted.types)
    for tag in wanted.tags:
        yield quoted(tag_mark(reading.letter, tag))
    for text in phrases:
        yield from adjoining(reading, text)


def negative(reading: Reading, wanted: Filter, excluded: Sequence[str]) -> Iterator[str]:
    for type_ in wanted.excluded_types:
        yield quoted(type_mark(reading.letter, type_))
    for tag in wanted.excluded_tags:
        yield quoted(tag_mark(reading.letter, tag))
    for text in excluded:
        yield from adjoining(reading, text)


def adjoining(reading: Reading, text: str) -> Iterator[str]:
    """These words at these distances, whatever stands where a word means nothing."""
    words = ANALYSERS[reading.analyser](text)
    idle = reading.idle_among(words)
    spoken = [
        (place, lexemes) for place, word in enumerate(words) if word not in idle and (lexemes := reading.meant(word))
    ]
    if spoken:
        rest = "".join(f"<{after - before}>{one_of(group)}" for (before, _), (after, group) in pairwise(spoken))
        yield f"({one_of(spoken[0][1])}{rest})"
