"""Rows that are stored temporarily on disk, and the statements on them."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from threading import Thread

import pytest

import db
from resolvers.import_export.disk.temp_database import CACHE, TempDatabase, temp_statements

NOUNS = sorted(path.stem for path in (Path(db.__file__).parent / "queries" / "temp").glob("*.sql"))
MAKING = "CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT)"
ADDING = "INSERT INTO rows VALUES (:id, :name)"
COUNTING = "SELECT count(*) FROM rows"
LISTING = "SELECT id, name FROM rows WHERE id > :after ORDER BY id"


@pytest.fixture
def temp() -> Iterator[TempDatabase]:
    with TempDatabase() as temp:
        temp.make(MAKING)
        yield temp


def named(numbers: range) -> Iterator[dict[str, object]]:
    return ({"id": n, "name": f"row {n}"} for n in numbers)


def test_every_statement_is_valid_for_the_temporary_tables() -> None:
    """All statements run on one temporary database, as in an import: no table name occurs twice."""
    nothing: defaultdict[str, None] = defaultdict(lambda: None)
    with TempDatabase() as temp:
        for noun in NOUNS:
            temp.make(temp_statements(noun)["make_tables"])
        found = [sql for noun in NOUNS for name, sql in temp_statements(noun).items() if name != "make_tables"]
        assert all(temp.connection.execute(f"EXPLAIN {sql}", nothing).fetchall() for sql in found)


def test_rows_are_read_in_batches(temp: TempDatabase) -> None:
    temp.put_all(ADDING, named(range(5)))
    assert temp.put(ADDING, id=5, name="the last") == 1
    assert temp.count(COUNTING) == 6
    assert list(temp.batches(2, LISTING, after=1)) == [[(2, "row 2"), (3, "row 3")], [(4, "row 4"), (5, "the last")]]
    assert temp.first(LISTING, after=4) == (5, "the last")
    assert temp.first(LISTING, after=5) is None


def test_rows_are_added_while_others_are_read(temp: TempDatabase) -> None:
    temp.put_all(ADDING, named(range(1_000)))
    read = 0
    for rows in temp.batches(100, LISTING, after=-1):
        read += len(rows)
        if read <= 1_000:
            temp.put_all(ADDING, named(range(10_000 + read, 10_100 + read)))
    assert read == temp.count(COUNTING) == 2_000


def test_another_thread_may_use_the_temporary_database(temp: TempDatabase) -> None:
    thread = Thread(target=temp.put_all, args=(ADDING, list(named(range(3)))))
    thread.start()
    thread.join()
    assert temp.count(COUNTING) == 3


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells which files are open")
def test_rows_beyond_the_cache_are_stored_in_an_unlinked_file() -> None:
    with TempDatabase() as temp:
        temp.make(MAKING)
        temp.put_all(ADDING, ({"id": n, "name": "x" * 1_000} for n in range(4 * CACHE)))
        assert sum(unlinked_file_sizes()) > 3 * CACHE * 1_000
    assert sum(unlinked_file_sizes()) < CACHE * 1_000


def unlinked_file_sizes() -> Iterator[int]:
    """Return the sizes of the open files of this process that have no name."""
    for file in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            status = file.stat()
            if S_ISREG(status.st_mode) and not status.st_nlink:
                yield status.st_size
