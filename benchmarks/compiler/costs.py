"""Measures the cost of a compile: CPU time of this process and of its Postgres backends, statements, and memory."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import asyncpg

from compiler.compiler import CAPS, Caps, Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.jobs.worker import work_once
from compiler.metrics import Metrics
from db.database import Database

from ..processes import backends, cpu_seconds, resident_mb

CONNECTION_NAME = "cairn"  # the application name of the product's connections in Postgres


@dataclass(slots=True)
class Cost:
    """The cost of compiling a number of sources, in seconds and MB. `python` and `postgres` are CPU time."""

    sources: int = 0
    jobs: int = 0
    wall: float = 0.0
    python: float = 0.0
    postgres: float = 0.0
    statements: int = 0
    resident: float = 0.0

    def add(self, other: "Cost") -> None:
        """Add the cost of more sources. The memory becomes that of the later cost."""
        for name in ("sources", "jobs", "wall", "python", "postgres", "statements"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.resident = other.resident

    @property
    def per_source(self) -> float:
        """Milliseconds of CPU per source."""
        return 1000 * (self.python + self.postgres) / self.sources if self.sources else 0.0

    @property
    def per_second(self) -> float:
        """Sources that one worker compiles per second of CPU, as on a quiet machine where it waits only for its own
        Postgres."""
        return 1000 / self.per_source if self.sources else 0.0


@dataclass(slots=True)
class Watch:
    """Measures time, statements and memory between `start` and `stop`."""

    backends: list[int]
    statements: int = 0
    began: Cost = field(default_factory=Cost)

    def read(self) -> Cost:
        return Cost(
            wall=time.perf_counter(),
            python=time.process_time(),
            postgres=cpu_seconds(self.backends),
            statements=self.statements,
            resident=resident_mb([os.getpid()]),
        )

    def start(self) -> None:
        self.began = self.read()

    def stop(self, sources: int, jobs: int = 0) -> Cost:
        """Return the cost since the start."""
        now, began = self.read(), self.began
        return Cost(
            sources,
            jobs,
            now.wall - began.wall,
            now.python - began.python,
            now.postgres - began.postgres,
            now.statements - began.statements,
            now.resident,
        )


async def watch_database(database: Database) -> Watch:
    """Return a watch that counts the statements of all connections that the database's pools have now."""
    watch = Watch(await backends(database.dsn, CONNECTION_NAME))

    def count(_: object) -> None:
        watch.statements += 1

    for pool in filter(None, (database.pool, database.read_pool)):
        for connection in pool.idle:
            connection.add_query_logger(count)
    return watch


def default_compiler(report_progress: Callable[[Metrics], None] = lambda _: None, caps: Caps = CAPS) -> Compiler:
    """Return a compiler with the default settings."""
    return Compiler(ExtractivePlanner(), ExtractiveWriter(), caps, report_progress=report_progress)


async def run_jobs(database: Database, compiler: Compiler) -> int:
    """Run all pending jobs one after the other, and return how many there were."""
    jobs = 0
    while await work_once(database, compiler, "bench"):
        jobs += 1
    return jobs


async def analyse_tables(dsn: str) -> None:
    """Run ANALYZE on all tables: autovacuum does so only once a minute, which is too slow for a benchmark."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("ANALYZE")
    finally:
        await connection.close()
