"""The vectors of pages and passages: find missing ones, write them in batches, and create the indexes for them.

A write deletes the vectors of the pages and passages that it changes, in its own transaction. The vectors are computed
by a job, so no write waits for the embedding server.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from db.connection import Connection, Row
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..errors import BadInput, Unavailable
from ..jobs.queue import enqueue
from ..search.lexemes import PASSAGES
from ..tenants.tenants import list_tenants
from ..transactions.transaction import read_connection, transaction
from ..transactions.writer import Writer
from .embedder import Embedder
from .server import TEXT_LONGEST

EMBEDDINGS = statements("search/embeddings")
TRIGGER = "embed"
DIMENSIONS_MAX = 4_000  # the limit of a pgvector index with half precision
FIRST = UUID(int=0)
KINDS = ("page", "passage")
NO_VECTOR = (
    "This Postgres lacks the extension vector. Install pgvector 0.8 or newer, let a superuser run CREATE EXTENSION "
    "vector, and run this again."
)


@dataclass(slots=True)
class Progress:
    """The position of a pass over a wiki: its last page, then its last passage. `end` is the end of the wiki."""

    end: Row
    page: UUID | None = FIRST
    source: UUID = FIRST
    position: int = -1


async def enable(database: Database, dimensions: int) -> None:
    """Create the extension, and the indexes for vectors with this number of dimensions.

    It can be repeated, and does not block writes. Raises BadInput for an invalid number, Unavailable without pgvector.
    """
    if not 1 <= dimensions <= DIMENSIONS_MAX:
        raise BadInput(f"This must lie between 1 and {DIMENSIONS_MAX:,}.", "CAIRN_EMBEDDING_DIMENSIONS")
    async with database.administering() as connection:
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')"):
            raise Unavailable(NO_VECTOR)
        try:
            await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except asyncpg.InsufficientPrivilegeError:
            raise Unavailable(NO_VECTOR) from None
        for kind in KINDS:
            name = f"{kind}_embeddings_{dimensions}_ix"
            broken = "SELECT NOT i.indisvalid FROM pg_index AS i WHERE i.indexrelid = to_regclass($1)"
            if await connection.fetchval(broken, name):  # left by an interrupted build
                await connection.execute(f"DROP INDEX CONCURRENTLY {name}")
            await connection.execute(
                f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {kind}_embeddings"
                f" USING hnsw (CAST(embedding AS halfvec({dimensions})) halfvec_cosine_ops)"
                f" WHERE dimensions = {dimensions}"
            )


async def disable(database: Database) -> None:
    """Delete all vectors and drop their indexes. The extension stays, because other tables may use it."""
    for tenant in await list_tenants(database):
        async with transaction(database) as connection:
            for name in ("drop_pages", "drop_passages", "drop_cursors"):
                await connection.run(EMBEDDINGS[name], tenant_id=tenant.id)
    async with database.administering() as connection:
        for kind in KINDS:
            indexes = "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = $1"
            for row in await connection.fetch(indexes, f"{kind}_embeddings"):
                if row["indexname"].removeprefix(f"{kind}_embeddings_").removesuffix("_ix").isdigit():
                    await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {row['indexname']}")


async def enqueue_embedding_jobs(database: Database, embedder: Embedder) -> int:
    """Enqueue a job for each wiki that lacks vectors, at most one open job each; return the number of wikis.

    Takes one round trip with a small statement per tenant, so that no statement reads two tenants.
    """
    wanted = [{"tenant_id": tenant.id, **model_parameters(embedder)} for tenant in await list_tenants(database)]
    async with read_connection(database) as connection:
        rows = await connection.all_of_each(EMBEDDINGS["find_unembedded"], wanted)
    for row in rows:
        async with transaction(database) as connection:
            await enqueue(connection, row["tenant_id"], row["id"], TRIGGER, subject=TRIGGER, bucket=0)
    return len(rows)


async def begin(writer: Writer) -> Progress:
    """Begin a pass over a wiki."""
    await writer.run(EMBEDDINGS["begin_cursor"])
    return Progress(await find_end(writer))


async def find_end(reader: Writer) -> Row:
    row = await reader.one(EMBEDDINGS["find_end"])
    assert row is not None
    return row


async def find_pages(reader: Writer, embedder: Embedder, after: UUID, limit: int) -> Sequence[Row]:
    """Return the next pages without a vector."""
    return await reader.all(
        EMBEDDINGS["find_pages"], after=after, longest=TEXT_LONGEST, limit=limit, **model_parameters(embedder)
    )


async def find_passages(reader: Writer, embedder: Embedder, progress: Progress, limit: int) -> Sequence[Row]:
    """Return the next passages without a vector."""
    return await reader.all(
        EMBEDDINGS["find_passages"],
        analyser=progress.end["analyser"],
        after=progress.source,
        after_position=progress.position,
        longest=TEXT_LONGEST,
        limit=limit,
        **model_parameters(embedder),
    )


def model_parameters(embedder: Embedder) -> dict[str, object]:
    return {"model": embedder.model, "dimensions": embedder.dimensions}


def page_text(row: Row) -> str:
    return "\n\n".join(filter(None, (row["title"], row["summary"], row["body"])))


def passage_text(row: Row) -> str:
    """Return the heading and the text of a passage; the speaker is in its text."""
    return "\n".join(filter(None, (row["heading"], row["text"])))


async def write_pages(writer: Writer, embedder: Embedder, rows: Sequence[Row], vectors: Sequence[list[float]]) -> None:
    values = [
        {
            **writer.known,
            **model_parameters(embedder),
            "page_id": row["id"],
            "version": row["version"],
            "embedding": vector,
        }
        for row, vector in zip(rows, vectors, strict=True)
    ]
    await writer.each(EMBEDDINGS["write_page"], values)


async def write_passages(
    writer: Writer, embedder: Embedder, rows: Sequence[Row], vectors: Sequence[list[float]]
) -> None:
    values = [
        {
            **writer.known,
            **model_parameters(embedder),
            **{name: row[name] for name in ("source_id", "position", "analyser")},
            "embedding": vector,
        }
        for row, vector in zip(rows, vectors, strict=True)
    ]
    await writer.each(EMBEDDINGS["write_passage"], values)


async def finish(writer: Writer, embedder: Embedder, progress: Progress) -> None:
    """Store that the wiki is embedded up to its end at the start of the pass, unless it was indexed again meanwhile."""
    end = {name: progress.end[name] for name in ("position", "source_id", "analyser")}
    await writer.run(EMBEDDINGS["drop_older"], analyser=end["analyser"])
    await writer.run(EMBEDDINGS["move_cursor"], **model_parameters(embedder), **end)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The numbers of pages and passages of a wiki, and of those that have a vector."""

    pages: int
    embedded_pages: int
    passages: int
    embedded_passages: int


async def coverage(database: Database, scope: Scope, embedder: Embedder) -> Coverage:
    async with read_connection(database) as connection:
        reader = Writer(connection, scope)
        end = await find_end(reader)
        row = await reader.one(
            EMBEDDINGS["count_embedded"], analyser=max(PASSAGES, end["analyser"]), **model_parameters(embedder)
        )
    assert row is not None
    return Coverage(**dict(row))


async def is_enabled(connection: Connection, dimensions: int) -> bool:
    """Return whether the indexes for vectors with this number of dimensions exist."""
    found = await connection.raw.fetchval("SELECT to_regclass($1)", f"passage_embeddings_{dimensions}_ix")
    return found is not None
