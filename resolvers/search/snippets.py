"""Snippets: the part of each hit that has the words of the query."""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from content.search.snippets import Snippet, candidates, choose
from db.connection import Connection, Row
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from .interpretation import InterpretedQuery, Option
from .ranking_query import RankingQuery
from .request import SearchHit

SNIPPETS = statements("search/snippets")
LONGEST = 20_000  # characters of a section that are read
SWITCH = r"(^|[\s`(\[|])-({})(?!\w)"

Sections = list[tuple[str, str]]
Key = TypeVar("Key", bound=Hashable)


async def with_snippets(
    connection: Connection,
    scope: Scope,
    interpreted: InterpretedQuery,
    ranking_query: RankingQuery,
    hits: Sequence[SearchHit],
) -> tuple[SearchHit, ...]:
    """Return the hits, each with its snippet and the id of the section that has the snippet."""
    where = scope.wiki_values
    rows = await connection.all(
        SNIPPETS["find_texts"], **where, page_ids=[hit.page_id for hit in hits], longest=LONGEST
    )
    pages: defaultdict[UUID, list[Row]] = defaultdict(list)
    for row in rows:
        pages[row["page_id"]].append(row)
    texts = {page_id: [(row["heading"], row["body"]) for row in sections] for page_id, sections in pages.items()}
    shown = await snippets_of(connection, scope, interpreted, ranking_query.weights, texts)
    return tuple(with_section(hit._replace(snippet=shown.get(hit.page_id)), pages[hit.page_id]) for hit in hits)


async def snippets_of(
    connection: Connection,
    scope: Scope,
    interpreted: InterpretedQuery,
    weights: Mapping[str, float],
    texts: Mapping[Key, Sections],
) -> dict[Key, Snippet | None]:
    """Return the snippet of each text. One statement stems the candidate words in the languages of the wiki."""
    beginnings = {word for options in interpreted.options for option in options for word in beginnings_of(option)}
    written = await offload(length(texts), all_candidates, texts, beginnings)
    stems = await connection.all(
        SNIPPETS["stem_words"], tenant_id=scope.tenant_id, owner_id=scope.owner_id, letter=interpreted.letter,
        analyser=interpreted.analyser, words=sorted(written),
    ) if written else []  # fmt: skip
    lexeme_of = {row["word"]: next((lexeme for lexeme in row["lexemes"] if lexeme in weights), None) for row in stems}
    return await offload(length(texts), all_snippets, texts, weights, lexeme_of)


async def is_switch(connection: Connection, scope: Scope, words: Sequence[str], hits: Sequence[SearchHit]) -> bool:
    """Return whether one of these pages has one of the words as a command-line switch, such as `-Recurse`."""
    row = await connection.one(
        SNIPPETS["find_switch"], tenant_id=scope.tenant_id, owner_id=scope.owner_id,
        page_ids=[hit.page_id for hit in hits], longest=LONGEST, pattern=SWITCH.format("|".join(map(escape, words))),
    )  # fmt: skip
    return bool(row and row["is_written"])


def is_switch_in(texts: Iterable[str], words: Sequence[str]) -> bool:
    """Return whether one of these texts has one of the words as a command-line switch."""
    pattern = re.compile(SWITCH.format("|".join(map(re.escape, words))), re.IGNORECASE)
    return any(map(pattern.search, texts))


def escape(word: str) -> str:
    """Return a Postgres regular expression that matches the word literally."""
    return "".join(char if char.isalnum() else f"[{char}]" if char not in "^\\]" else f"\\{char}" for char in word)


def beginnings_of(option: Option) -> list[str]:
    """Return how words that match an option may begin: with its word, or with a stem, such as `studi` of `study`."""
    return [option.word, *(lexeme[1:] for lexeme in option.lexemes)]


def length(texts: Mapping[Key, Sections]) -> int:
    return sum(len(body) for sections in texts.values() for _, body in sections)


def all_candidates(texts: Mapping[Key, Sections], beginnings: set[str]) -> set[str]:
    return {word for sections in texts.values() for word in candidates(sections, beginnings)}


def all_snippets(
    texts: Mapping[Key, Sections], weights: Mapping[str, float], lexeme_of: Mapping[str, str | None]
) -> dict[Key, Snippet | None]:
    return {key: choose(sections, weights, lexeme_of.get) for key, sections in texts.items()}


def with_section(hit: SearchHit, sections: Sequence[Row]) -> SearchHit:
    return hit._replace(section_id=sections[hit.snippet.section]["id"]) if hit.snippet else hit
