"""Reindexing: build the index of a wiki by the current analyser beside the index in use, then switch queries to it.

It may be interrupted and repeated: pages that are indexed stay indexed. Writers continue meanwhile, and write both
indexes. When pages that are indexed already are read again, their words are counted again, batch by batch, into a
second edition of the counts. A write to a page that was recounted goes into both editions, so that the second edition
is exact at the end without one long count of everything.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from content.languages import language_of
from content.search.words import ANALYSER
from db.connection import Connection, Row
from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements
from db.table_statistics import analyze_tables
from lib.threads import offload

from ..transactions.transaction import lock_wiki, transaction
from ..transactions.writer import Writer
from .index import INDEX, IndexedPage, rows_of, searchable
from .lexemes import PASSAGES, fold
from .passages import OLDER, reindex_passages, request_passage_reindex

REINDEXING = statements("search/reindexing")
READ = ("aliases", "old_slugs", "pages", "sections")
BATCH, BYTES = 200, 2_000_000  # pages that one transaction indexes, and the bytes of text after which it ends
FIRST = UUID(int=0)

Progress = Callable[[int], None]


async def unread(database: Database, tenant_id: UUID, owner_id: UUID | None = None) -> list[Row]:
    """Return the state of the index of each wiki of a tenant, or of one wiki.

    A row has the number of `pages` and of those that are `unread`, the number of `sources` and `unread_sources`,
    whether a reindexing `is_due`, and whether the wiki `has_older` indexes that a reindexing drops.
    """
    async with database.connection() as connection:
        return await connection.all(REINDEXING["list_wikis"], tenant_id=tenant_id, owner_id=owner_id, analyser=ANALYSER)


async def reindex(
    database: Database,
    tenant_id: UUID,
    owner_id: UUID,
    progress: Progress = lambda _: None,
    *,
    again: bool = False,
    keep_older: bool = False,
) -> int:
    """Index the pages and sources that the current index lacks, or all of them `again`; return the number of pages.

    `progress` is called with the number of pages or sources of each batch. `keep_older` keeps the indexes of older
    analysers, which servers of the release before still read.
    """
    scope = scope_of(tenant_id, owner_id)
    await begin(database, scope, again)
    if again:
        await request_passage_reindex(database, scope)
    (wiki,) = await unread(database, tenant_id, owner_id)
    await analyze_tables(database, READ, owner_id, wiki["pages"])
    done, after = 0, FIRST
    while batch := await read_batch(database, scope, after):
        done += len(batch)
        after = batch[-1]
        progress(len(batch))
    await finish(database, scope, keep_older=keep_older)
    await reindex_passages(database, scope, progress, keep_older=keep_older)
    return done


async def request_reindex(database: Database, tenant_id: UUID, owner_id: UUID) -> None:
    """Request that the next reindexing of the wiki reads all pages and sources again."""
    await begin(database, scope_of(tenant_id, owner_id), again=True)
    await request_passage_reindex(database, scope_of(tenant_id, owner_id))


def scope_of(tenant_id: UUID, owner_id: UUID) -> Scope:
    return Scope(tenant_id, owner_id, Role.ADMIN, Actor(ActorKind.SERVICE, "reindex"), (owner_id,))


async def begin(database: Database, scope: Scope, again: bool = False) -> None:
    async with transaction(database) as connection:
        await lock_wiki(connection, scope)
        await run(connection, scope, "begin_building")
        if again:
            await run(connection, scope, "read_again")
        await fold(Writer(connection, scope), ANALYSER)
        await run(connection, scope, "begin_recount")


async def read_batch(database: Database, scope: Scope, after: UUID) -> list[UUID]:
    """Index the next batch of pages in one transaction and return their ids; an empty list when no page is left."""
    async with transaction(database) as connection:
        await lock_wiki(connection, scope)
        return await read_next(connection, scope, after)


async def read_next(connection: Connection, scope: Scope, after: UUID) -> list[UUID]:
    """Index the pages after this id, or after an earlier position if another process restarted the reindexing."""
    begun = await run_all(connection, scope, "find_reached")
    start = min(after, *(row["reached"] for row in begun)) if begun else after
    rows = await run_all(connection, scope, "find_unread", after=start, size=BATCH, bytes=BYTES)
    page_ids = [row["id"] for row in rows]
    if rows:
        values = await offload(sum(len(row["body_md"]) for row in rows), read_rows, scope, rows)
        writer = Writer(connection, scope)
        await writer.all(INDEX["write_pages"], **values)
        await fold(writer, ANALYSER)
        await run(connection, scope, "forget_embedded")
        await run(connection, scope, "recount_pages", page_ids=page_ids)
        await run(connection, scope, "reach_page", page_id=page_ids[-1])
    return page_ids


async def finish(database: Database, scope: Scope, *, keep_older: bool = False) -> None:
    """Switch queries to the new index, and drop the older ones."""
    while not await switch(database, scope):
        pass
    while not keep_older and await drop_older(database, scope):
        pass


async def switch(database: Database, scope: Scope) -> bool:
    """Index the pages that were written since the last batch, and switch queries to this index.

    Return False if the new pages do not fit into one batch; the caller then tries again.
    """
    async with transaction(database) as connection:
        await lock_wiki(connection, scope)
        await read_next(connection, scope, FIRST)
        if await run_all(connection, scope, "find_unread", after=FIRST, size=1, bytes=BYTES):
            return False
        await fold(Writer(connection, scope), ANALYSER)
        await run(connection, scope, "take_recount")
        await run(connection, scope, "drop_former_counts")
        said = await run_all(connection, scope, "list_languages")
        languages = {language_of(dict(row), row["usual"]) for row in said}
        await run(connection, scope, "end_building", languages=list(languages))
    return True


async def is_requested(connection: Connection, scope: Scope) -> bool:
    """Return whether a reindexing of the pages or of the passages of the wiki was requested and has not ended."""
    wiki = scope.wiki_values
    numbers = ANALYSER, PASSAGES + ANALYSER
    return any([await connection.all(REINDEXING["find_reached"], **wiki, analyser=number) for number in numbers])


async def drop_older(database: Database, scope: Scope) -> bool:
    """Drop a batch of rows of older analysers, and at the end their statistics; return whether rows may be left."""
    async with transaction(database) as connection:
        await lock_wiki(connection, scope)
        if await run(connection, scope, "drop_older_pages", size=BATCH) == BATCH:
            return True
        await run(connection, scope, "drop_older_terms")
        for name in OLDER:
            await run(connection, scope, name, first=0)
    return False


def read_rows(scope: Scope, rows: list[Row]) -> dict[str, Any]:
    return rows_of(scope, ANALYSER, [indexed_page(row) for row in rows])


def indexed_page(row: Row) -> IndexedPage:
    return IndexedPage(
        page_id=row["id"],
        type=row["type"],
        status=row["status"],
        tags=row["tags"],
        language=language_of(row["metadata"], row["language"]),
        title=row["title"],
        summary=row["summary"],
        headings=row["headings"],
        names=sorted({*row["aliases"], *row["old_slugs"], row["slug"]}),
        words=searchable(row["body_md"]),
    )


async def run(connection: Connection, scope: Scope, name: str, **values: Any) -> int:
    return await connection.run(REINDEXING[name], **of(scope), **values)


async def run_all(connection: Connection, scope: Scope, name: str, **values: Any) -> list[Row]:
    return await connection.all(REINDEXING[name], **of(scope), **values)


def of(scope: Scope) -> dict[str, Any]:
    return {**scope.wiki_values, "analyser": ANALYSER, "now": datetime.now(UTC)}
