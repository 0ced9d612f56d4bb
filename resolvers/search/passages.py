"""The passage of each hit that shows why it was found."""

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

PASSAGES = statements("search_passages")
LONGEST = 20_000  # characters of a section
SWITCH = r"(^|[\s`(\[|])-({})(?!\w)"

Sections = list[tuple[str, str]]


async def with_passages(
    connection: Connection, scope: Scope, reading: ReadQuery, asked: RankedQuery, hits: Sequence[SearchHit]
) -> tuple[SearchHit, ...]:
    """Return the hits, each with its passage and the section where it stands."""
    where = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
    rows = await connection.all(
        PASSAGES["find_passages"], **where, page_ids=[hit.page_id for hit in hits], longest=LONGEST
    )
    pages: defaultdict[UUID, list[Row]] = defaultdict(list)
    for row in rows:
        pages[row["page_id"]].append(row)
    texts = {page_id: [(row["heading"], row["body"]) for row in sections] for page_id, sections in pages.items()}
    beginnings = {word for options in reading.options for option in options for word in beginnings_of(option)}
    written = await read_in_thread(length(texts), all_candidates, texts, beginnings)
    stems = await connection.all(
        PASSAGES["stem_words"], **where, letter=reading.letter, analyser=reading.analyser, words=sorted(written)
    ) if written else []  # fmt: skip
    meant = {row["word"]: next((lexeme for lexeme in row["lexemes"] if lexeme in asked.weights), None) for row in stems}
    shown = await read_in_thread(length(texts), all_passages, texts, asked.weights, meant, hits)
    return tuple(with_section(hit, pages[hit.page_id]) for hit in shown)


async def is_switch(connection: Connection, scope: Scope, words: Sequence[str], hits: Sequence[SearchHit]) -> bool:
    """Return whether one of these pages writes one of the words as a switch: `-Recurse`, and no other letter before."""
    row = await connection.one(
        PASSAGES["find_switch"], tenant_id=scope.tenant_id, owner_id=scope.owner_id,
        page_ids=[hit.page_id for hit in hits], longest=LONGEST, pattern=SWITCH.format("|".join(map(escape, words))),
    )  # fmt: skip
    return bool(row and row["is_written"])


def escape(word: str) -> str:
    """Return the word as a regular expression of Postgres: whatever is no letter and no digit means itself."""
    return "".join(one if one.isalnum() else f"[{one}]" if one not in "^\\]" else f"\\{one}" for one in word)


def beginnings_of(option: Option) -> list[str]:
    """Return how the words of an option may begin: a stem may be written otherwise than its words: studi, study."""
    return [option.word, *(lexeme[1:] for lexeme in option.lexemes)]


def length(texts: Mapping[UUID, Sections]) -> int:
    return sum(len(body) for sections in texts.values() for _, body in sections)


def all_candidates(texts: Mapping[UUID, Sections], beginnings: set[str]) -> set[str]:
    return {word for sections in texts.values() for word in candidates(sections, beginnings)}


def all_passages(
    texts: Mapping[UUID, Sections],
    weights: Mapping[str, float],
    meant: Mapping[str, str | None],
    hits: Sequence[SearchHit],
) -> list[SearchHit]:
    return [hit._replace(passage=choose(texts.get(hit.page_id, []), weights, meant.get)) for hit in hits]


def with_section(hit: SearchHit, sections: Sequence[Row]) -> SearchHit:
    return hit._replace(section_id=sections[hit.passage.section]["id"]) if hit.passage else hit
