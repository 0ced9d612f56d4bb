"""OneTransaction: operations of a database that are committed together or not at all."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from db.connection import Connection
from db.database import Database
from db.one_transaction import OneTransaction
from db.sql import Statement

ADD = Statement("INSERT INTO one VALUES ($1)", ("n",))
COUNT = Statement("SELECT count(*) FROM one", ())
SAY = Statement("SELECT pg_notify('one', $1)", ("n",))
SUM = "SELECT coalesce(json_agg(n), '[]') AS answer, 6 AS size FROM one"


@pytest.fixture
async def database(dsn: str) -> AsyncIterator[Database]:
    database = Database(dsn, size=2)
    await database.open()
    async with database.connection() as connection:
        await connection.all(Statement("CREATE TABLE one (n int PRIMARY KEY)", ()))
    yield database
    await database.close()


async def count(database: Database) -> int:
    async with database.connection() as connection:
        found: int = await connection.value(COUNT)
        return found


async def add(database: Database, n: int) -> None:
    async with database.transaction() as connection:
        await connection.run(ADD, n=n)


async def nothing(connection: Connection) -> None:
    pass


async def test_parts_are_invisible_outside_until_the_whole_is_committed(database: Database) -> None:
    async with OneTransaction(database, nothing) as whole:
        assert await count(whole) == 0
        for n in (1, 2):
            await add(whole, n)
        assert (await count(whole), await count(database)) == (2, 0)
        assert await whole.json(SUM, []) == b"[1, 2]"
        await whole.commit()
    assert (await count(whole), await count(database), whole.writes) == (2, 2, 2)


async def test_an_uncommitted_whole_is_rolled_back(database: Database) -> None:
    async with OneTransaction(database, nothing) as whole:
        await add(whole, 1)
    assert (await count(whole), await count(database)) == (0, 0)


async def test_a_failed_part_does_not_undo_the_others(database: Database) -> None:
    async with OneTransaction(database, nothing) as whole:
        await add(whole, 1)
        with pytest.raises(asyncpg.UniqueViolationError):
            await add(whole, 1)
        await add(whole, 2)
        await whole.commit()
    assert (await count(database), whole.writes, whole.is_broken) == (2, 2, False)


async def test_notifications_of_successful_parts_are_sent_on_commit(database: Database, dsn: str) -> None:
    listener, notifications = await asyncpg.connect(dsn), list[str]()
    await listener.add_listener("one", lambda *told: notifications.append(told[-1]))
    async with OneTransaction(database, nothing) as whole:
        await add_and_notify(whole, 1)
        with pytest.raises(asyncpg.UniqueViolationError):
            await add_and_notify(whole, 1)
        await add_and_notify(whole, 2)
        await listener.execute("SELECT 1")
        assert notifications == []
        await whole.commit()
    await listener.execute("SELECT 1")
    assert notifications == ["1", "2"]
    await listener.close()


async def add_and_notify(database: Database, n: int) -> None:
    async with database.transaction() as connection:
        connection.run_with_commit(SAY, n=str(n))
        await connection.run(ADD, n=n)


async def test_a_failed_read_breaks_the_whole(database: Database) -> None:
    async with OneTransaction(database, nothing) as whole:
        await add(whole, 1)
        with pytest.raises(asyncpg.DivisionByZeroError):
            await whole.json("SELECT to_json(n / 0) FROM one", [])
        assert whole.is_broken
    assert await count(database) == 0


async def test_a_refused_whole_stays_refused_and_holds_no_connection(database: Database) -> None:
    calls = 0

    async def refuse(connection: Connection) -> None:
        nonlocal calls
        calls += 1
        raise LookupError

    async with OneTransaction(database, refuse) as whole:
        for _ in range(3):
            with pytest.raises(LookupError):
                await add(whole, 1)
        assert (calls, isinstance(whole.refused, LookupError), whole.writes) == (1, True, 0)
        async with database.transaction(), database.transaction():
            pass
