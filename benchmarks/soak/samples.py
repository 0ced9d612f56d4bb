"""Samples of a running service: memory of its processes, connections, sizes of tables, dead tuples, what waits."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from statistics import median
from typing import Any

import asyncpg

from ..processes import resident_mb

CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
TABLES = """
SELECT s.relname AS name, c.reltuples, s.n_live_tup AS live, s.n_dead_tup AS dead, pg_table_size(s.relid) AS heap,
       pg_indexes_size(s.relid) AS indexes
FROM pg_stat_user_tables AS s JOIN pg_class AS c ON c.oid = s.relid
"""
WAITING = """
SELECT (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending') AS deliveries,
       (SELECT count(*) FROM compile_jobs WHERE status IN ('pending', 'running')) AS jobs
"""


class Samples:
    """Samples by minute. A name is that of a measurement and its unit."""

    def __init__(self, dsn: str, processes: Mapping[str, int]) -> None:
        self.dsn, self.processes, self.began = dsn, processes, time.monotonic()
        self.found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.tables: list[dict[str, Any]] = []

    async def run(self, every: float) -> None:
        connection = await asyncpg.connect(self.dsn)
        try:
            while True:
                await self.take(connection)
                await asyncio.sleep(every)
        finally:
            await connection.close()

    async def take(self, connection: asyncpg.Connection) -> None:
        for name, pid in self.processes.items():
            with suppress(OSError):
                self.add(f"{name}, MB", resident_mb([pid]))
        self.add("connections", await connection.fetchval(CONNECTIONS))
        waiting = await connection.fetchrow(WAITING)
        for name, value in waiting.items():
            self.add(f"{name} that wait", value)
        rows = [dict(row) for row in await connection.fetch(TABLES)]
        self.tables = rows
        live, dead = sum(row["live"] for row in rows), sum(row["dead"] for row in rows)
        size = sum(row["heap"] + row["indexes"] for row in rows)
        self.add("tables and indexes, MB", size / 1e6)
        self.add("rows, thousands", live / 1e3)
        self.add("bytes a row", size / max(live, 1))
        self.add("dead rows, %", 100 * dead / max(live + dead, 1))

    def add(self, name: str, value: float) -> None:
        self.found[name][int((time.monotonic() - self.began) / 60)].append(float(value))

    def by_minute(self, minutes: int) -> dict[str, list[float | None]]:
        """Return the median of each minute."""
        return {
            name: [median(told[at]) if told.get(at) else None for at in range(minutes)]
            for name, told in self.found.items()
        }  # fmt: skip
