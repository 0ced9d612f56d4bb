"""Samples a running service: memory of its processes, connections, sizes of tables, dead tuples, pending work."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from statistics import median
from typing import Any

import asyncpg

from ..processes import cluster_cpu_seconds, cpu_seconds, resident_mb

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


HISTORY = frozenset({"activity", "audit_events", "compile_jobs", "revisions", "sources", "webhook_deliveries"})
"""The tables that record history: they grow with each write, until retention prunes them."""


class Samples:
    """Samples by measurement (a name with its unit) and minute. `server` is the pid of the postmaster."""

    def __init__(self, dsn: str, processes: Mapping[str, int], server: int) -> None:
        self.dsn, self.processes, self.server, self.began = dsn, processes, server, time.monotonic()
        self.cpu: dict[str, dict[int, float]] = defaultdict(dict)
        """The CPU seconds used so far, at the end of each minute."""
        self.values: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
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
            self.add(f"pending {name}", value)
        rows = [dict(row) for row in await connection.fetch(TABLES)]
        self.tables = rows
        live, dead = sum(row["live"] for row in rows), sum(row["dead"] for row in rows)
        current = [row for row in rows if row["name"] not in HISTORY]
        size = sum(row["heap"] + row["indexes"] for row in current)
        self.add("tables of current state, MB", size / 1e6)
        self.add("tables of history, MB", sum(row["heap"] + row["indexes"] for row in rows) / 1e6 - size / 1e6)
        self.add("rows of current state, thousands", sum(row["live"] for row in current) / 1e3)
        self.add("dead rows, %", 100 * dead / max(live + dead, 1))
        minute = int((time.monotonic() - self.began) / 60)
        with suppress(OSError):
            self.cpu["service"][minute] = cpu_seconds([self.processes["service"]])
            self.cpu["Postgres"][minute] = cluster_cpu_seconds(self.server)

    def cpu_per_request(self, sent: Mapping[int, int], minutes: int) -> dict[str, list[float | None]]:
        """Return the mean CPU milliseconds per request of each minute, whatever else the machine does."""
        values: dict[str, list[float | None]] = {}
        for name, values_by_minute in self.cpu.items():
            values[f"CPU of {name} per request, ms"] = [
                (values_by_minute[at] - values_by_minute[at - 1]) * 1_000 / sent[at]
                if at in values_by_minute and at - 1 in values_by_minute and sent.get(at)
                else None
                for at in range(minutes)
            ]
        return values

    def add(self, name: str, value: float) -> None:
        self.values[name][int((time.monotonic() - self.began) / 60)].append(float(value))

    def by_minute(self, minutes: int) -> dict[str, list[float | None]]:
        """Return the median of each minute."""
        return {
            name: [median(values_by_minute[at]) if values_by_minute.get(at) else None for at in range(minutes)]
            for name, values_by_minute in self.values.items()
        }  # fmt: skip
