"""A temporary SQLite database on the disk, so that facts about many notes take constant memory.

Its statements are in queries/temp/<noun>.sql, in the form of those for Postgres. They bind no tenant, because a
temporary database belongs to one operation in one wiki.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any

from db.sql import texts

CACHE = 1_000  # kB of memory
CONFIGURED = (f"PRAGMA cache_size = -{CACHE}", "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF")


def temp_statements(noun: str) -> Mapping[str, str]:
    """Return the named statements of queries/temp/<noun>.sql; `make_tables` is one of them."""
    return texts(f"temp/{noun}")


class TempDatabase:
    """A database in an unnamed file, which the system removes when the process ends or closes it.

    Any thread may use it, but only one at a time.
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
        """Make the tables, and begin a transaction, which need not be committed: no other connection reads the file."""
        self.connection.executescript(f"{tables};\nBEGIN")

    def put(self, statement: str, **values: Any) -> int:
        """Run a statement and return the number of rows that it added or changed."""
        return self.connection.execute(statement, values).rowcount

    def put_all(self, statement: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run the statement with the values of each row; the rows may be an iterator."""
        self.connection.executemany(statement, rows)

    def first(self, statement: str, **values: Any) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self.connection.execute(statement, values).fetchone()
        return found

    def count(self, statement: str, **values: Any) -> int:
        """Return the number that a statement counts."""
        return int((self.first(statement, **values) or (0,))[0])

    def batches(self, size: int, statement: str, **values: Any) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a statement in batches of this size."""
        cursor = self.connection.execute(statement, values)
        while rows := cursor.fetchmany(size):
            yield rows
