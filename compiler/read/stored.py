"""Statements that read a wiki for the compiler: each function runs one, or none if it has nothing to look up."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from content.search.words import ANALYSER, words
from db.connection import Row
from db.sql import statements
from resolvers.search.lexemes import PASSAGES, scope_letter
from resolvers.transactions.writer import Writer

from ..planner import Citations, MentionCard, PageCard, SourceText

AGGREGATION = statements("sources/aggregation")
COMPILING = statements("sources/compiling")
FORGETTING = statements("sources/forgetting")
RUN = "run"
"""The kind of sources that are the notes of an agent's run."""
CITED_MAX = 200  # newest sources of one section that its writer is given


class Cursor(NamedTuple):
    """A position in the order of sources, by creation time and id. A wiki stores that of its last compiled source."""

    at: datetime
    id: UUID


BEGINNING = Cursor(datetime(1, 1, 1, tzinfo=UTC), UUID(int=0))
END = Cursor(datetime(9999, 12, 31, tzinfo=UTC), UUID(int=2**128 - 1))


class Batch(NamedTuple):
    """The sources behind `start` in the order of their creation, with the position of each."""

    start: Cursor
    places: tuple[Cursor, ...]
    sources: tuple[SourceText, ...]

    @property
    def end(self) -> Cursor:
        return self.places[-1]

    def first(self, number: int) -> "Batch":
        """Return the first sources as a batch of their own."""
        return Batch(self.start, self.places[:number], self.sources[:number])

    def of_same_kind(self) -> "Batch":
        """Return the first sources that all are notes of agent runs, or of which none is.

        A batch must not mix both, because pages from runs are proposed and pages from other sources are stored.
        """
        from_runs = [source.kind == RUN for source in self.sources]
        return self.first(next((n for n, is_run in enumerate(from_runs) if is_run != from_runs[0]), len(from_runs)))


NOTHING_NEW = Batch(BEGINNING, (), ())
"""The empty batch, for changes that are made without new sources."""


async def find_cursor(reader: Writer) -> Cursor:
    """Return the position of the last compiled source of the wiki, or BEGINNING."""
    row = await reader.one(COMPILING["find_cursor"])
    return Cursor(row["source_at"], row["source_id"]) if row and row["source_at"] else BEGINNING


async def find_batch(reader: Writer, start: Cursor, size: int, until: Cursor = END) -> Batch:
    """Return the first `size` sources behind `start`, up to and including `until`."""
    rows = await reader.all(COMPILING["find_batch"], **between(start, until), size=size)
    places = tuple(Cursor(row["created_at"], row["id"]) for row in rows)
    return Batch(start, places, tuple(map(source_of, rows)))


async def find_forgetting(reader: Writer) -> frozenset[UUID]:
    """Return the sources of the wiki that are still to be forgotten by a job."""
    return frozenset(await reader.value(FORGETTING["list_forgettings"]))


async def is_behind(reader: Writer, cursor: Cursor, until: Cursor = END) -> bool:
    """Return whether there is a source behind the cursor, up to and including `until`."""
    return bool(await reader.value(COMPILING["is_behind"], **between(cursor, until)))


def between(start: Cursor, until: Cursor) -> dict[str, Any]:
    return {"source_at": start.at, "source_id": start.id, "until_at": until.at, "until_id": until.id}


async def find_sources(reader: Writer, ids: Collection[UUID]) -> dict[UUID, Row]:
    rows = await reader.all(COMPILING["find_sources"], ids=list(ids)) if ids else []
    return {row["id"]: row for row in rows}


def source_of(row: Row) -> SourceText:
    return SourceText(
        row["id"],
        row["kind"],
        row["ref"],
        row["content"],
        row["captured_at"],
        row["title"],
        row["metadata"],
        tuple(row.get("earlier_ids") or ()),
    )


async def find_cards(reader: Writer, *, aliases: Collection[str] = (), ids: Collection[UUID] = ()) -> list[PageCard]:
    """Return the pages with one of these names or ids: active before archived, the oldest first."""
    if not aliases and not ids:
        return []
    rows = await reader.all(COMPILING["find_cards"], aliases=list(aliases), ids=list(ids))
    return [
        PageCard(
            id=row["id"],
            type=row["type"],
            slug=row["slug"],
            title=row["title"],
            summary=row["summary"],
            aliases=frozenset(row["aliases"]),
            tags=tuple(row["tags"]),
            section_slugs=tuple(row["section_slugs"]),
            is_archived=row["status"] != "active",
        )
        for row in rows
    ]


async def filter_names(reader: Writer, aliases: frozenset[str]) -> frozenset[str]:
    """Return those of these names that a page may have.

    A batch can contain tens of thousands of names, each of which would cost Postgres an index scan. So, if the wiki has
    fewer names than that, all of its names are read and compared here. Otherwise all given names are returned.
    """
    stored = await find_all_names(reader, len(aliases)) if aliases else []
    return aliases if stored is None else aliases.intersection(stored)


async def find_all_names(reader: Writer, max_names: int) -> list[str] | None:
    """Return the names of all pages of the wiki, or None if there are more than `max_names`."""
    names: list[str] = await reader.value(COMPILING["find_names"], limit=max_names + 1)
    return None if len(names) > max_names else names


async def find_mentions(reader: Writer, aliases: Collection[str]) -> dict[str, MentionCard]:
    """Return the mention of each name."""
    rows = await reader.all(COMPILING["find_mentions"], aliases=list(aliases)) if aliases else []
    return {
        row["alias"]: MentionCard(
            row["alias"],
            row["name"],
            row["status"],
            row["suggested_type"],
            tuple(row["source_ids"]),
            tuple(row["seen_at"]),
            row["cluster"] or {},
        )
        for row in rows
    }


async def find_sources_with(reader: Writer, names: Collection[str], max_sources: int) -> dict[str, list[UUID]]:
    """Return the newest compiled sources that have all words of each name, by the index of passages.

    While that index is being built, no source is found.
    """
    said = {name: " ".join(words(name)) for name in names}
    number = PASSAGES + ANALYSER
    scope = reader.scope
    values = {
        "names": list(said),
        "words": list(said.values()),
        "analyser": number,
        "letter": scope_letter(scope.tenant_id, scope.owner_id, number),
    }
    rows = await reader.all(COMPILING["find_sources_with"], **values, limit=max_sources) if said else []
    return {row["name"]: row["source_ids"] for row in rows}


async def find_citations(
    reader: Writer, wanted: Collection[tuple[UUID, str]], max_sources: int = CITED_MAX
) -> Mapping[tuple[UUID, str], Sequence[UUID]]:
    """Return the `max_sources` newest sources that each existing section cites, by (page, section slug)."""
    if not wanted:
        return {}
    values: dict[str, Any] = {"page_ids": [id for id, _ in wanted], "slugs": [slug for _, slug in wanted]}
    rows = await reader.all(COMPILING["find_citations"], **values, limit=max_sources)
    return {(row["page_id"], row["slug"]): row["source_ids"] for row in rows}


async def find_page_citations(reader: Writer, page_ids: Collection[UUID]) -> dict[UUID, Citations]:
    """Return the CITED_MAX newest sources that each page cites, and whether people have written on it."""
    rows = await reader.all(COMPILING["find_page_citations"], page_ids=list(page_ids), limit=CITED_MAX)
    return {row["id"]: Citations(tuple(row["source_ids"]), row["is_compiled"], row["was_merged"]) for row in rows}


async def find_synthesised(reader: Writer, pages: Mapping[UUID, Collection[UUID]]) -> set[UUID]:
    """Return the pages that cite enough sources for a synthesis, counting the sources that they are about to cite."""
    pairs = [(page_id, source_id) for page_id, ids in pages.items() for source_id in ids]
    values = {"citing": [page_id for page_id, _ in pairs], "cited": [source_id for _, source_id in pairs]}
    rows = await reader.all(COMPILING["find_synthesised"], page_ids=list(pages), **values) if pages else []
    return {row["page_id"] for row in rows}


async def find_compiled_summaries(reader: Writer, page_ids: Collection[UUID]) -> set[UUID]:
    """Return the pages whose present summary the compiler wrote."""
    rows = await reader.all(COMPILING["find_summary_authors"], page_ids=list(page_ids)) if page_ids else []
    return {row["page_id"] for row in rows if row["author_kind"] == "compiler"}


async def find_rollups(reader: Writer, page_ids: Collection[UUID]) -> list[tuple[UUID, str]]:
    """Return (page, slug) of the rollup sections of these pages."""
    rows = await reader.all(AGGREGATION["find_rollups"], page_ids=list(page_ids)) if page_ids else []
    return [(row["page_id"], row["section_slug"]) for row in rows]
