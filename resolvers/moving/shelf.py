"""Rows that wait on the disk, so that to know something of many notes takes no more memory than of few."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

CACHE = 1_000  # kB that are held in memory
CONFIGURED = (f"PRAGMA cache_size = -{CACHE}", "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF")


class Shelf:
    """A database in a file without a name: nobody else has it, and it is gone when the work is over, however it ends.

    It may be used by any thread, one at a time.
    """

    def __init__(self) -> None:
        self.connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self.make(*CONFIGURED)

    def __enter__(self) -> "Shelf":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.connection.close()

    def make(self, *statements: str) -> None:
        for statement in statements:
            self.connection.execute(statement)

    def put(self, statement: str, *values: Any) -> int:
        """How many rows that made or changed."""
        return self.connection.execute(statement, values).rowcount

    def put_all(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """The statement with the values of each row; they may come as they are found."""
        self.connection.execute("BEGIN")
        try:
            self.connection.executemany(statement, rows)
        finally:
            self.connection.execute("COMMIT")

    def first(self, statement: str, *values: Any) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self.connection.execute(statement, values).fetchone()
        return found

    def count(self, table: str) -> int:
        return int(self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608  ours

    def some(self, size: int, statement: str, *values: Any) -> Iterator[list[tuple[Any, ...]]]:
        """The rows, so many at once."""
        cursor = self.connection.execute(statement, values)
        while rows := cursor.fetchmany(size):
            yield rows
