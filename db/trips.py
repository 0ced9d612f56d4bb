"""Short reads that share one way to Postgres and back.

The way costs about as much as such a read. Those of one statement that have to wait for a connection go together with
the first that comes free, one after the other, and each sees what is there when its turn comes (decision 50).
"""

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter

import asyncpg

from selection.lru import LRU
from selection.trail import Part, note, noted

from .pool import Exhausted, Pool

MOST = 8  # reads of one trip
LOAD = 2500
"""Rows that they may find in all, which takes Postgres some two milliseconds: longer reads go alone."""

OTHERWISE = 600  # rows that one counts for which does more than find them: a search takes Postgres about as long
LONG = 0.05  # seconds that a trip may take before those who joined go alone: a slow read holds up nobody else
APART = 60  # seconds that the same statement is not shared for after that
SLOW = 512  # statements that are remembered for it

Arguments = Sequence[object]
Coming = asyncio.Future[bytes | None]


class Alone(Exception):
    """The trip came to nothing, and whose fault that was is not known."""


class Trip:
    """Reads of one statement. Who began it waits for the connection and runs it, for those who joined as well."""

    def __init__(self, sql: str, arguments: Arguments, rows: int) -> None:
        self.sql, self.arguments, self.rows, self.began = sql, arguments, rows, 0.0
        self.others: list[tuple[Arguments, Coming]] = []

    def has_room(self, rows: int) -> bool:
        return 1 + len(self.others) < MOST and self.rows + rows <= LOAD

    def join(self, arguments: Arguments, rows: int) -> Coming:
        coming: Coming = asyncio.get_running_loop().create_future()
        self.others.append((arguments, coming))
        self.rows += rows
        return coming

    async def run(self, connection: asyncpg.Connection, part: Callable[["Trip"], object]) -> bytes | None:
        """The value for who began it, once the others have theirs. `part` is called when that takes long."""
        value: bytes | None
        others = [(arguments, coming) for arguments, coming in self.others if not coming.done()]
        if not others:
            value = await connection.fetchval(self.sql, *self.arguments)
            return value
        parting = asyncio.get_running_loop().call_later(LONG, part, self)
        try:
            own, *found = await connection.fetchmany(self.sql, [self.arguments, *(each for each, _ in others)])
        finally:
            parting.cancel()
        for (_, coming), (value,) in zip(others, found, strict=True):
            if not coming.done():
                coming.set_result(value)
        value = own[0]
        return value

    def fail(self, error: Exception) -> None:
        """For those who joined."""
        for _, coming in self.others:
            if not coming.done():
                coming.set_exception(error)


class Trips:
    """Those of one pool."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.gathering: dict[str, Trip] = {}
        self.slow: LRU[float] = LRU(SLOW)  # until when they are not shared, by the loop's clock

    async def read(self, sql: str, arguments: Arguments, rows: int | None) -> bytes | None:
        """The one value of a statement, when no connection is idle. Raises what Postgres says, or Exhausted.

        `rows` it finds at most; None for one that does more than find them. A read that fails ends the trip of all:
        then each goes alone, as does whoever joined one that was cancelled or takes long.
        """
        rows = OTHERWISE if rows is None else rows
        if self.is_slow(sql):
            return await self.made(Trip(sql, arguments, rows))
        trip = self.gathering.get(sql)
        try:
            if trip is not None and trip.has_room(rows):
                return await self.joined(trip, arguments, rows)
            trip = self.gathering[sql] = Trip(sql, arguments, rows)
            return await self.made(trip)
        except Alone:
            return await self.made(Trip(sql, arguments, rows))

    def is_slow(self, sql: str) -> bool:
        until = self.slow.find(sql)
        return until is not None and asyncio.get_running_loop().time() < until

    def part(self, trip: Trip) -> None:
        """What is read twice now is not read twice by those who come next, on a busy server least of all."""
        self.slow.keep(trip.sql, asyncio.get_running_loop().time() + APART)
        trip.fail(Alone())

    async def joined(self, trip: Trip, arguments: Arguments, rows: int) -> bytes | None:
        self.pool.check_room()
        self.pool.along += 1
        waited = Part("wait")
        value = await trip.join(arguments, rows)
        reading = Part("sql", trip.sql)
        reading.began = trip.began
        note(waited, ended=trip.began)
        note(reading)
        return value

    async def made(self, trip: Trip) -> bytes | None:
        connection = await self.connection(trip)
        trip.began = perf_counter()
        try:
            with noted("sql", trip.sql):
                value = await trip.run(connection, self.part)
        except BaseException as error:
            self.pool.give(connection, error)
            trip.fail(Alone())
            if trip.others and isinstance(error, Exception):
                raise Alone from None
            raise
        self.pool.give(connection)
        return value

    async def connection(self, trip: Trip) -> asyncpg.Connection:
        """Nobody joins any more once it is there."""
        try:
            return await self.pool.take()
        except Exhausted as error:
            self.pool.refused += len(trip.others)
            trip.fail(error)
            raise
        except BaseException:
            trip.fail(Alone())
            raise
        finally:
            self.pool.along -= len(trip.others)
            if self.gathering.get(trip.sql) is trip:
                del self.gathering[trip.sql]
