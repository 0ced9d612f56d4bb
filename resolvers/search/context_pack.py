"""The context pack: the sections and passages of several wikis that are useful for a task, within a token budget."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from content.claims.claims import SHOWN_MAX, ClaimRead
from content.context_pack import (
    CONTEXT,
    NAMED,
    ORDER,
    PASSAGE,
    SECTION,
    STANDARD,
    Packed,
    Packing,
    Piece,
    excerpt,
    is_for,
    pack,
    place_of,
    roles_of,
    text_of,
)
from content.names import normalise
from content.search.snippets import Snippet
from content.search.words import words
from db.connection import Connection, Row
from db.database import Database
from db.scope import Scope
from db.sql import statements
from lib.threads import run_in_thread

from .. import validation
from ..errors import BadInput
from .request import MAX_HITS, SearchHit
from .search_all import Hit, SearchAllRequest, search_all
from .source_search import PassageHit
from .spaces import Space

PACKS = statements("search/context_pack")
BUDGET, BUDGET_MAX = 4_000, 100_000  # tokens
QUERY_MAX, TASK_MAX, ROLE_MAX = 10_000, 20_000, 200  # characters
LOADED_MAX = 50  # pages of a wiki that are loaded by their type, and as many again that the task names
SECTION_MAX = 20_000  # characters of a section
NAME_WORDS, TASK_WORDS = 6, 400  # words of the longest name, and of the part of a task that is searched for names


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The request of a context pack: a query, the task that it serves, and the role of the agent or person who does it.

    `spaces` are slugs or ids of wikis; None stands for all that the caller may read.
    """

    query: str
    task: str | None = None
    role: str | None = None
    budget: int = BUDGET
    spaces: Sequence[str] | None = None


class Origin(NamedTuple):
    """The origin of a piece: a section of a page, or a passage of a source."""

    owner_id: UUID
    page_id: UUID | None = None
    section_id: UUID | None = None
    passage: PassageHit | None = None


class ContextItem(NamedTuple):
    """A piece of a pack with its origin."""

    packed: Packed
    origin: Origin


@dataclass(frozen=True, slots=True)
class ContextPack:
    """A context pack as items and as one text. `omitted` is the number of pieces that did not fit into the budget."""

    items: tuple[ContextItem, ...]
    text: str
    omitted: int
    spaces: tuple[Space, ...]
    did_you_mean: str | None


async def context_pack(database: Database, scope: Scope, request: ContextRequest) -> ContextPack:
    """Build the context pack for a request.

    Takes three statements besides those of the search: for pages that rules load, for sections and for passages.
    Raises BadInput for a budget out of bounds or a text that is too long, NotFound for a wiki that the caller may not
    read.
    """
    check(request)
    found = await search_all(
        database, scope, SearchAllRequest(request.query, spaces=request.spaces, first=MAX_HITS, with_snippets=True)
    )
    slugs = {space.id: space.slug for space in found.spaces}
    async with database.searching() as connection:
        kinds = await find_loaded_pages(connection, scope, request, found.spaces)
        pages = [hit.found.page_id for hit in found.hits if isinstance(hit.found, SearchHit)]
        sections = await connection.all(
            PACKS["find_sections"], tenant_id=scope.tenant_id, page_ids=list(dict.fromkeys([*kinds, *pages])),
            longest=SECTION_MAX, max_claims=SHOWN_MAX,
        )  # fmt: skip
        places = await passage_places(connection, scope, found.hits)
    origins: dict[str, Origin] = {}
    loaded = list(pieces_of_pages(sections, kinds, slugs, origins))
    hits = list(pieces_of_hits(found.hits, sections, kinds, places, origins))
    snippets = [hit.found.snippet for hit in found.hits]
    packing = await run_in_thread(pack_pieces, loaded, hits, snippets, request.budget)
    return ContextPack(
        items=tuple(ContextItem(packed, origins[packed.piece.key]) for packed in packing.packed),
        text=text_of(packing.packed),
        omitted=packing.omitted,
        spaces=found.spaces,
        did_you_mean=found.did_you_mean,
    )


def check(request: ContextRequest) -> None:
    """Raise BadInput if the budget is out of bounds or a text is too long."""
    if not 1 <= request.budget <= BUDGET_MAX:
        raise BadInput(f"A budget is between 1 and {BUDGET_MAX:,} tokens.", "budgetTokens")
    validation.text(request.query, "query", QUERY_MAX)
    validation.text(request.task or "", "task", TASK_MAX)
    validation.text(request.role or "", "role", ROLE_MAX)


async def find_loaded_pages(
    connection: Connection, scope: Scope, request: ContextRequest, spaces: Sequence[Space]
) -> dict[UUID, str]:
    """Return the pages that are loaded without a search, each with the rule that loads it.

    Pages of the type context are always loaded, standards by role, and products, entities and concepts if the task
    names them.
    """
    rows = await connection.all(
        PACKS["find_loaded_pages"], tenant_id=scope.tenant_id, owner_ids=[space.id for space in spaces],
        names=list(names_in(request.task or request.query)), limit=LOADED_MAX,
    )  # fmt: skip
    rules = {row["id"]: rule for row in rows if (rule := rule_of(row, request.role))}
    return {page_id: rule for wanted in ORDER for page_id, rule in rules.items() if rule == wanted}


def rule_of(row: Row, role: str | None) -> str | None:
    """Return the rule that loads a page, or None for a standard of another role."""
    if row["type"] == CONTEXT:
        return CONTEXT
    if row["type"] == STANDARD:
        return STANDARD if is_for(role, roles_of(row["metadata"], row["tags"])) else None
    return NAMED


def names_in(task: str) -> set[str]:
    """Return every possible name in a task: each run of up to NAME_WORDS adjacent words."""
    said = normalise_words(task)
    return {" ".join(said[start : start + length]) for length in range(1, NAME_WORDS + 1) for start in range(len(said))}


def normalise_words(text: str) -> list[str]:
    """Return the first TASK_WORDS words of a text. They are normalised like names, one by one."""
    found: list[str] = []
    for word in text.split():
        found += normalise(word).split()
        if len(found) >= TASK_WORDS:
            break
    return found[:TASK_WORDS]


async def passage_places(connection: Connection, scope: Scope, hits: Sequence[Hit]) -> dict[tuple[UUID, int], Row]:
    passages = [hit.found for hit in hits if isinstance(hit.found, PassageHit)]
    rows = await connection.all(
        PACKS["find_passages"], tenant_id=scope.tenant_id, source_ids=[passage.source_id for passage in passages],
        positions=[passage.position for passage in passages],
        analysers=[passage.index_number for passage in passages],
    )  # fmt: skip
    return {(row["source_id"], row["position"]): row for row in rows}


def pieces_of_pages(
    sections: Sequence[Row], kinds: Mapping[UUID, str], slugs: Mapping[UUID, str], origins: dict[str, Origin]
) -> Iterator[Piece]:
    """Yield the sections of the pages that are loaded by rules, page by page."""
    for page_id, kind in kinds.items():
        for row in sections:
            if row["page_id"] == page_id and row["owner_id"] in slugs:
                yield piece(row, kind, slugs[row["owner_id"]], None, origins)


def pieces_of_hits(
    hits: Sequence[Hit],
    sections: Sequence[Row],
    kinds: Mapping[UUID, str],
    places: Mapping[tuple[UUID, int], Row],
    origins: dict[str, Origin],
) -> Iterator[Piece]:
    """Yield a piece for each hit, the best first: the passage, or the section of the page that has the snippet.

    A page without a snippet gives its first section. Pages that a rule has loaded are left out.
    """
    for hit in hits:
        if isinstance(hit.found, PassageHit):
            if (row := places.get((hit.found.source_id, hit.found.position))) is not None:
                yield passage_piece(hit, hit.found, row, origins)
        elif hit.found.page_id not in kinds:
            of_page = [
                row for row in sections if (row["page_id"], row["owner_id"]) == (hit.found.page_id, hit.space.id)
            ]
            best = next((row for row in of_page if row["id"] == hit.found.section_id), of_page[0] if of_page else None)
            if best is not None:
                yield piece(best, SECTION, hit.space.slug, hit.score, origins)


def pack_pieces(
    loaded: Sequence[Piece], hits: Sequence[Piece], snippets: Sequence[Snippet | None], budget: int
) -> Packing:
    """Pack the pieces into the budget.

    Long lists in found sections and on pages that the task names are shortened to the items that match the query. They
    match by the words that snippets highlight, because those are spelled as pages and sources write them.
    """
    query_words = {
        word
        for shown in snippets if shown
        for start, length in shown.highlights
        for word in words(shown.text[start : start + length])
    }  # fmt: skip

    def shortened(piece: Piece) -> Piece:
        return replace(piece, excerpt=excerpt(piece.text, query_words)) if piece.kind in (SECTION, NAMED) else piece

    return pack(list(map(shortened, loaded)), list(map(shortened, hits)), budget)


def piece(row: Row, kind: str, space: str, score: float | None, origins: dict[str, Origin]) -> Piece:
    key = str(row["id"])
    origins[key] = Origin(row["owner_id"], row["page_id"], row["id"])
    title = f"{row['title']} › {row['heading']}" if row["heading"] else row["title"]
    claims = [
        ClaimRead(fact, new, datetime.fromisoformat(on))
        for fact, new, on in row["claims"] or ()
    ]  # fmt: skip
    place = place_of(row["type"], f"{row['slug']}#{row['section_slug']}", space)
    return Piece(kind, key, place, title, row["body"], row["date"], str(row["page_id"]), tuple(claims), score)


def passage_piece(hit: Hit, found: PassageHit, row: Row, origins: dict[str, Origin]) -> Piece:
    key = f"{found.source_id}:{found.position}"
    origins[key] = Origin(hit.space.id, passage=found)
    name = f"{row['ref']}:{row['line_start']}-{row['line_end']}"
    place = place_of(row["kind"], name, hit.space.slug)
    title = "evidence, overridden by newer evidence" if found.superseded_by else "evidence"
    return Piece(PASSAGE, key, place, title, found.text, row["captured_at"], "", (), hit.score)
