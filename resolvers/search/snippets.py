"""The snippet of each hit that shows why it was found."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from content.snippets import candidates, choose
from db.database import Connection, Row
from db.scope import Scope
from db.sql import statements
from lib.threads import read_in_thread

from .interpretation import Option, ReadQuery
from .ranking_query import RankedQuery
from .request import SearchHit

SNIPPETS = statements("search_snippets")
LONGEST = 20_000  # characters of a section

Sections = list[tuple[str, str]]


async def with_snippets(
    connection: Connection, scope: Scope, reading: ReadQuery, asked: RankedQuery, hits: Sequence[SearchHit]
) -> tuple[SearchHit, ...]:
    """Return the hits, each with its snippet and the section where it stands."""
    where = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
    rows = await connection.all(
        SNIPPETS["find_texts"], **where, page_ids=[hit.page_id for hit in hits], longest=LONGEST
    )
    pages: defaultdict[UUID, list[Row]] = defaultdict(list)
    for row in rows:
        pages[row["page_id"]].append(row)
    texts = {page_id: [(row["heading"], row["body"]) for row in sections] for page_id, sections in pages.items()}
    beginnings = {word for options in reading.options for option in options for word in beginnings_of(option)}
    written = await read_in_thread(length(texts), all_candidates, texts, beginnings)
    stems = await connection.all(
        SNIPPETS["stem_words"], **where, letter=reading.letter, analyser=reading.analyser, words=sorted(written)
    ) if written else []  # fmt: skip
    meant = {row["word"]: next((lexeme for lexeme in row["lexemes"] if lexeme in asked.weights), None) for row in stems}
    shown = await read_in_thread(length(texts), all_snippets, texts, asked.weights, meant, hits)
    return tuple(with_section(hit, pages[hit.page_id]) for hit in shown)


def beginnings_of(option: Option) -> list[str]:
    """Return how the words of an option may begin: a stem may be written otherwise than its words: studi, study."""
    return [option.word, *(lexeme[1:] for lexeme in option.lexemes)]


def length(texts: Mapping[UUID, Sections]) -> int:
    return sum(len(body) for sections in texts.values() for _, body in sections)


def all_candidates(texts: Mapping[UUID, Sections], beginnings: set[str]) -> set[str]:
    return {word for sections in texts.values() for word in candidates(sections, beginnings)}


def all_snippets(
    texts: Mapping[UUID, Sections],
    weights: Mapping[str, float],
    meant: Mapping[str, str | None],
    hits: Sequence[SearchHit],
) -> list[SearchHit]:
    return [hit._replace(snippet=choose(texts.get(hit.page_id, []), weights, meant.get)) for hit in hits]


def with_section(hit: SearchHit, sections: Sequence[Row]) -> SearchHit:
    return hit._replace(section_id=sections[hit.snippet.section]["id"]) if hit.snippet else hit
