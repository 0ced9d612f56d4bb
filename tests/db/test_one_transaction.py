"""A database seen through one transaction."""

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


async def test_nobody_sees_the_parts_before_the_whole(database: Database) -> None:
    async with OneTransaction(database, nothing) as whole:
        assert await count(whole) == 0
        for n in (1, 2):
            await add(whole, n)
        assert (await count(whole), await count(database)) == (2, 0)
        assert await whole.json(SUM, []) == b"[1, 2]"
        await whole.commit()
    assert (await count(whole), await count(database), whole.writes) == (2, 2, 2)


async def test_what_is_not_committed_is_undone(database: Database) -> None:
    async with OneTransaction(database, nothing) as whole:
        await add(whole, 1)
    assert (await count(whole), await count(database)) == (0, 0)


async def test_a_part_fails_by_itself(database: Database) -> None:
    async with OneTransaction(database, nothing) as whole:
        await add(whole, 1)
        with pytest.raises(asyncpg.UniqueViolationError):
            await add(whole, 1)
        await add(whole, 2)
        await whole.commit()
    assert (await count(database), whole.writes, whole.is_broken) == (2, 2, False)


async def test_what_a_part_says_last_is_heard_with_the_whole_unless_it_failed(database: Database, dsn: str) -> None:
    ear, heard = await asyncpg.connect(dsn), list[str]()
    await ear.add_listener("one", lambda *told: heard.append(told[-1]))
    async with OneTransaction(database, nothing) as whole:
        await say(whole, 1)
        with pytest.raises(asyncpg.UniqueViolationError):
            await say(whole, 1)
        await say(whole, 2)
        await ear.execute("SELECT 1")
        assert heard == []
        await whole.commit()
    await ear.execute("SELECT 1")
    assert heard == ["1", "2"]
    await ear.close()


async def say(database: Database, n: int) -> None:
    async with database.transaction() as connection:
        connection.run_with_commit(SAY, n=str(n))
        await connection.run(ADD, n=n)


async def test_a_read_that_fails_breaks_the_whole(database: Database) -> None:
    async with OneTransaction(database, nothing) as whole:
        await add(whole, 1)
        with pytest.raises(asyncpg.DivisionByZeroError):
            await whole.json("SELECT to_json(n / 0) FROM one", [])
        assert whole.is_broken
    assert await count(database) == 0


async def test_who_is_refused_once_is_refused_again_and_holds_no_connection(database: Database) -> None:
    asked = 0

    async def refuse(connection: Connection) -> None:
        nonlocal asked
        asked += 1
        raise LookupError

    async with OneTransaction(database, refuse) as whole:
        for _ in range(3):
            with pytest.raises(LookupError):
                await add(whole, 1)
        assert (asked, isinstance(whole.refused, LookupError), whole.writes) == (1, True, 0)
        async with database.transaction(), database.transaction():
            pass
