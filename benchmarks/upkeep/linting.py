"""Measures the lint of a large wiki: CPU seconds of Postgres for all checks, and the memory of this process."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Annotated

import asyncpg
import typer
import uvloop
from rich.console import Console

from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.scope import Actor, ActorKind, Role, Scope
from db.sensitivity import restricted
from resolvers.auth.owners import Grant, OwnerKind, create_owner, grant
from resolvers.knowledge.lint import CHECKS, lint

from ..compiler.database import MEMORY
from ..import_export.memory import kilobytes
from ..processes import cluster_cpu_seconds, postmaster
from ..wikis import Wiki, wiki, write_wikis

GOAL = 10.0  # CPU seconds of Postgres for all checks
FIELDS = """
    UPDATE pages SET metadata = jsonb_strip_nulls(jsonb_build_object(
        'confidence', (ARRAY['low', 'medium', 'high', 'certain'])[1 + number % 4],
        'sensitivity', CASE WHEN number % 3 = 0
            THEN (ARRAY['public', 'internal', 'confidential', 'secret'])[1 + number % 4] END,
        'expires', CASE WHEN number % 10 = 0 THEN '2026-06-01' END,
        'source_refs', CASE WHEN number % 5 = 0 THEN jsonb_build_array('ref-' || number, 'gone-' || number) END,
        'supersedes', CASE WHEN number % 50 = 0 THEN jsonb_build_array(other.slug) END,
        'contradicts', CASE WHEN number % 70 = 0 THEN jsonb_build_array(other.slug) END,
        'category', CASE WHEN number % 20 = 0 THEN 'concepts' END
    ))
    FROM (SELECT id, slug, CAST(substring(slug FROM '[0-9]+$') AS integer) AS number,
                 lag(slug) OVER (ORDER BY id) AS earlier, lead(slug) OVER (ORDER BY id) AS slug_after FROM pages) AS own
    CROSS JOIN LATERAL (VALUES (coalesce(own.slug_after, own.earlier))) AS other (slug)
    WHERE pages.id = own.id"""
stderr = Console(stderr=True)


def linted(
    pages: Annotated[int, typer.Option(min=10, help="Pages of the wiki.")] = 100_000,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of all checks.")] = 3,
    folder: Annotated[
        Path | None, typer.Option(help="Folder in which the database is stored for the next run.")
    ] = None,
) -> None:
    """Lint a wiki of this size. Fails if all checks together take more than ten seconds of Postgres' CPU."""
    with database_server(folder) as dsn:
        if uvloop.run(measure_lint(dsn, wiki(1, 1, pages, hub=pages // 4), rounds)) > GOAL:
            raise typer.Exit(1)


@contextmanager
def database_server(folder: Path | None) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        place = folder or Path(name)
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o755)
        server = EmbeddedServer(place / "data", durable=False)
        server.settings = server.settings | MEMORY
        with server as dsn:
            yield dsn


async def measure_lint(dsn: str, wiki: Wiki, rounds: int) -> float:
    """Return the CPU seconds that all checks take in Postgres: the worse of the wiki's owner and a member by grant."""
    worst = 0.0
    await migrate(dsn)
    database = Database(dsn, size=2, statement_timeout=600)
    await database.open()
    try:
        own = Scope(wiki.tenant_id, wiki.owner_id, Role.MEMBER, Actor(ActorKind.USER, "bench"), (wiki.owner_id,))
        await write_pages(dsn, wiki)
        pid = await postmaster(dsn)
        guest = await guest_of(database, own)
        for name, scope in (("its own people", own), ("a member by grant, who may not read everything", guest)):
            view = restricted(database, scope)
            Path("/proc/self/clear_refs").write_text("5")
            before, taken, spent = kilobytes("VmRSS"), [], []
            for _ in range(rounds):
                start, used = time.perf_counter(), cluster_cpu_seconds(pid)
                reports = await lint(view, scope, limit=100)
                taken.append(time.perf_counter() - start)
                spent.append(cluster_cpu_seconds(pid) - used)
            grown = max(0.0, (kilobytes("VmHWM") - before) / 1024)
            print(
                f"{wiki.pages:,} pages, {name}: {median(spent):.2f} s of Postgres's CPU "
                f"[{min(spent):.2f}-{max(spent):.2f}], in {median(taken):.2f} s [{min(taken):.2f}-{max(taken):.2f}], "
                f"{sum(report.total for report in reports):,} findings, peak memory {grown:.1f} MB higher",
                flush=True,
            )
            for seconds, check, total in sorted([await run_check(view, scope, check.name) for check in CHECKS])[::-1][
                :8
            ]:
                print(f"    {check:<22} {seconds:6.2f} s {total:>9,} findings", flush=True)
            worst = max(worst, median(spent))
        return worst
    finally:
        await database.close()


async def run_check(database: Database, scope: Scope, check: str) -> tuple[float, str, int]:
    start = time.perf_counter()
    report = (await lint(database, scope, checks=[check]))[0]
    return time.perf_counter() - start, check, report.total


async def write_pages(dsn: str, wiki: Wiki) -> None:
    """Write the wiki with frontmatter, unless an earlier run has written it."""
    connection = await asyncpg.connect(dsn)
    try:
        if await connection.fetchval("SELECT count(*) FROM pages") == wiki.pages:
            return
        stderr.print(f"Writing {wiki.pages:,} pages. This takes some minutes, once.")
        await write_wikis(dsn, [wiki])
        await connection.execute(FIELDS)
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()


async def guest_of(database: Database, own: Scope) -> Scope:
    """Return the scope of a guest who may write in the wiki, and read up to the sensitivity ceiling of members."""
    slug = f"guest-{time.time_ns()}"
    guest = await create_owner(database, own.tenant_id, OwnerKind.USER, slug, "Guest")
    await grant(database, own.tenant_id, owner_id=own.owner_id, grantee_id=guest.id, role=Grant.MEMBER)
    return replace(own, owners=(guest.id,))
