"""Copies tables out of a database and into it, as text in the format of COPY."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

import asyncpg

from .catalogue import Table, list_indexes, list_tables, quoted
from .folder import Archive, Contents, Counted, Draft

# The text of values does not depend on the settings of the database and the role.
WRITTEN_ALIKE = """
SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'postgres'; SET LOCAL timezone = 'UTC';
SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1;
SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '10s'
"""
Report = Callable[[str, int, int, str], None]
"""report(phase, done, total, detail) is called with the progress."""


class Sink(Protocol):
    """A file to which the text of a table is written."""

    def write(self, data: bytes, /) -> int: ...


@asynccontextmanager
async def connect(dsn: str, name: str) -> AsyncIterator[asyncpg.Connection]:
    """Open a connection for a copy, also through a pooler."""
    connection = await asyncpg.connect(dsn, statement_cache_size=0, server_settings={"application_name": name})
    try:
        yield connection
    finally:
        connection.terminate() if connection.is_in_transaction() else await connection.close()


@asynccontextmanager
async def snapshot(connection: asyncpg.Connection) -> AsyncIterator[list[Table]]:
    """Begin a transaction that sees one snapshot, and return the tables. They are locked against migrations."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        await connection.execute(WRITTEN_ALIKE)
        names = [table.name for table in await list_tables(connection)]
        if names:
            await connection.execute(f"LOCK TABLE {', '.join(map(quoted, names))} IN ACCESS SHARE MODE")
        yield await list_tables(connection)


async def copy_out(
    connection: asyncpg.Connection,
    table: Table,
    sink: Sink | None = None,
    *,
    columns: Sequence[str] | None = None,
    where: str = "",
    arguments: Sequence[Any] = (),
    moved: Callable[[int], None] = lambda _: None,
) -> Contents:
    """Write the rows of a table to the sink, if there is one, and return their count and checksum.

    An error of the sink is raised after the last row, because asyncpg waits for ever if it gets one with that row.
    """
    counted, failed = Counted(), list[OSError]()

    async def take(piece: bytes) -> None:
        if failed:
            return
        counted.add(piece)
        try:
            if sink is not None:
                sink.write(piece)
            moved(counted.bytes)
        except OSError as error:
            failed.append(error)

    names = list(columns or table.columns)
    await connection.copy_from_query(table.select(names, where), *arguments, output=take)
    if failed:
        raise failed[0]
    return counted.contents(names)


async def copy_tables_out(
    connection: asyncpg.Connection,
    tables: Iterable[Table],
    draft: Draft,
    report: Report,
    *,
    where: str = "",
    arguments: Sequence[Any] = (),
) -> dict[str, Contents]:
    """Write the rows of tables into an archive, and return the contents of each by name."""
    tables, contents = list(tables), dict[str, Contents]()
    for number, table in enumerate(tables):

        def moved(size: int, number: int = number, name: str = table.name) -> None:
            report("saving", number, len(tables), f"{name} {size / 1e6:,.0f} MB")

        with draft.table(table.name) as file:
            contents[table.name] = await copy_out(
                connection, table, file, where=where, arguments=arguments, moved=moved
            )
    report("saving", len(tables), len(tables), "")
    return contents


async def copy_in(connection: asyncpg.Connection, archive: Archive, table: str, moved: Callable[[int], None]) -> None:
    """Fill a table with its rows in the archive. Raises ArchiveBroken if they do not match the manifest."""

    async def source() -> AsyncIterator[bytes]:
        size = 0
        for piece in archive.pieces(table):
            yield piece
            moved(size := size + len(piece))

    await connection.copy_to_table(table, source=source(), columns=archive.manifest.tables[table].columns)


async def copy_tables_in(
    connection: asyncpg.Connection, archive: Archive, tables: Iterable[str], report: Report
) -> None:
    """Fill tables, one after the other."""
    tables = list(tables)
    for number, name in enumerate(tables):

        def moved(size: int, number: int = number, name: str = name) -> None:
            report("loading", number, len(tables), f"{name} {size / 1e6:,.0f} MB")

        await copy_in(connection, archive, name, moved)
    report("loading", len(tables), len(tables), "")


@asynccontextmanager
async def without_indexes(connection: asyncpg.Connection) -> AsyncIterator[None]:
    """Drop the indexes that belong to no constraint, and create them again after the block.

    Filling a table without its indexes is faster.
    """
    indexes = await list_indexes(connection)
    for name in indexes:
        await connection.execute(f"DROP INDEX {quoted(name)}")
    yield
    for definition in indexes.values():
        await connection.execute(definition)
