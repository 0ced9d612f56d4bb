"""Rows that wait on the disk, so that to know something of many notes takes no more memory than of few.

Its statements are SQLite's, in queries/temp/<noun>.sql, written as those for Postgres are. They bind no tenant: a
temporary database is made for one operation in one wiki, and nobody else ever has its file.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any

from db.sql import texts

CACHE = 1_000  # kB that are held in memory
CONFIGURED = (f"PRAGMA cache_size = -{CACHE}", "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF")


def temp_statements(noun: str) -> Mapping[str, str]:
    """The named statements of queries/temp/<noun>.sql; `make_tables` is one of them."""
    return texts(f"temp/{noun}")


class TempDatabase:
    """A database in a file without a name: nobody else has it, and it is gone when the work is over, however it ends.

    It may be used by any thread, one at a time.
    """

    def __init__(self) -> None:
        self.connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for statement in CONFIGURED:
            self.connection.execute(statement)

    def __enter__(self) -> "TempDatabase":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    def make(self, tables: str) -> None:
        """Make the tables. All that follows is one transaction: nobody else looks, and nothing is ever rolled back."""
        self.connection.executescript(f"{tables};\nBEGIN")

    def put(self, statement: str, **values: Any) -> int:
        """Run a statement, and return how many rows it made or changed."""
        return self.connection.execute(statement, values).rowcount

    def put_all(self, statement: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run the statement with the values of each row; they may come as they are found."""
        self.connection.executemany(statement, rows)

    def first(self, statement: str, **values: Any) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self.connection.execute(statement, values).fetchone()
        return found

    def count(self, statement: str, **values: Any) -> int:
        """The number that a statement counts."""
        return int((self.first(statement, **values) or (0,))[0])

    def some(self, size: int, statement: str, **values: Any) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows in batches of that size."""
        cursor = self.connection.execute(statement, values)
        while rows := cursor.fetchmany(size):
            yield rows
