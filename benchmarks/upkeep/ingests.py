"""Ingests files with processes that are killed: no acknowledged ingest may be lost, and none may be stored in part."""

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import asyncpg
import orjson
import typer
import uvloop

from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.ingest.ingest import IngestDraft, ingest_source
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole, checked_rules

from ..compiler.database import new_wiki, open_database, temporary_server

FILES = 40  # addresses: each further ingest from the same address is its next version
PARTIAL = {
    "sources without their file": """
        SELECT count(*) FROM sources AS s LEFT JOIN source_originals AS o ON o.source_id = s.id WHERE o.hash IS NULL""",
    "files without a source": """
        SELECT count(*) FROM blobs AS b LEFT JOIN source_originals AS o ON o.hash = b.hash WHERE o.hash IS NULL""",
    "sources that no page and no proposal cites": """
        SELECT count(*) FROM sources AS s
        WHERE NOT EXISTS (SELECT FROM section_sources AS c WHERE c.source_id = s.id)
          AND NOT EXISTS (SELECT FROM proposals AS p WHERE p.arguments ->> 'source_id' = CAST(s.id AS text))""",
    "pages that cite nothing": """
        SELECT count(*) FROM pages AS p WHERE NOT EXISTS (SELECT FROM section_sources AS c WHERE c.page_id = p.id)""",
}
STORED = """
    SELECT s.id, b.hash, b.data FROM sources AS s
    JOIN source_originals AS o ON o.source_id = s.id JOIN blobs AS b ON b.hash = o.hash"""


def ingests(
    number: Annotated[int, typer.Option(min=1, help="Acknowledged ingests.")] = 1_000,
    kills: Annotated[int, typer.Option(min=0, help="Minimum of processes that are killed.")] = 100,
    policy: Annotated[Policy, typer.Option(help="Whether pages are created or proposed.")] = Policy.OPEN,
    seed: Annotated[int, typer.Option(help="The same seed gives the same moments.")] = 1,
) -> None:
    """Ingest files with processes that are killed with SIGKILL, and look for lost and for partial ingests."""
    with temporary_server() as dsn, tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
        uvloop.run(ingest_with_kills(dsn, Path(folder) / "told", number, kills, policy, random.Random(seed)))


async def ingest_with_kills(dsn: str, log: Path, number: int, kills: int, policy: Policy, rng: random.Random) -> None:
    database, connection = await open_database(dsn), await asyncpg.connect(dsn)
    scope = await new_wiki(database, "acme", "mara")
    rules = orjson.dumps(checked_rules([PolicyRule(WriterRole.MEMBER, policy)])).decode()
    await connection.execute("UPDATE owners SET write_policy = $1", rules)
    log.touch()
    began, killed, at_work, share = time.monotonic(), 0, 0, max(1, number // (kills + 1))
    command = [sys.executable, "-m", "benchmarks.upkeep.ingests", dsn, str(scope.tenant_id), str(scope.owner_id)]
    while (done := len(read_log(log))) < number:
        last = number if killed >= kills else min(number, done + share)
        process = subprocess.Popen([*command, str(log), str(done), str(number)])
        while process.poll() is None and len(read_log(log)) < last:
            await asyncio.sleep(0.002)
        if last < number:
            await asyncio.sleep(rng.random() * 0.05)
            process.kill()
            killed += process.wait() < 0
            at_work += await connection.fetchval("SELECT count(*) FROM sources") > len(read_log(log))
        elif process.wait():
            raise typer.Exit(process.returncode)
        if found := await find_partial(connection):
            print(f"After {killed} kills: {found}")
            raise typer.Exit(1)
    lost = await count_lost(connection, read_log(log), policy)
    rows = {
        table: await connection.fetchval(f"SELECT count(*) FROM {table}") for table in ("sources", "pages", "proposals")
    }
    print(
        f"{number:,} ingests acknowledged, {killed} processes killed, {at_work} between a write and its answer: "
        f"{lost} lost or changed, 0 stored in part, {rows['sources']:,} sources, "
        f"{rows['pages']} pages, "
        f"{rows['proposals']:,} proposals, in {time.monotonic() - began:.0f} s"
    )
    await connection.close()
    await database.close()
    if lost:
        raise typer.Exit(1)


async def find_partial(connection: asyncpg.Connection) -> dict[str, int]:
    counts = {name: await connection.fetchval(statement) for name, statement in PARTIAL.items()}
    return {name: count for name, count in counts.items() if count}


async def count_lost(connection: asyncpg.Connection, acknowledged: list[tuple[int, str, str]], policy: Policy) -> int:
    """Return how many of the acknowledged ingests are missing, or differ by a byte."""
    rows = await connection.fetch(STORED)
    data = {str(row["id"]): row["data"] for row in rows if sha256(row["data"]).digest() == row["hash"]}
    table = "pages" if policy is Policy.OPEN else "proposals"
    places = {str(row["id"]) for row in await connection.fetch(f"SELECT id FROM {table}")}
    whole = [data.get(source_id) == file_content(n) and place in places for n, source_id, place in acknowledged]
    return whole.count(False)


def read_log(log: Path) -> list[tuple[int, str, str]]:
    """Read the acknowledged ingests from complete lines: a number, the source, and the page or the proposal."""
    lines = log.read_text(encoding="ascii").splitlines(keepends=True)
    return [(int(n), source, place) for n, source, place in (line.split() for line in lines if line.endswith("\n"))]


def file_content(number: int) -> bytes:
    """Generate a note. Every seventh address is a web page, which another process parses."""
    place, version = number % FILES, number // FILES + 1
    text = f"Kiln {place} was fired {version} times. It holds {place * 7} bowls."
    if place % 7 == 0:
        return f"<html><body><h1>Kiln {place}</h1><p>{text}</p></body></html>".encode()
    return f"# Kiln {place}\r\n\r\n{text}\r\n".encode()


async def ingest(dsn: str, tenant_id: str, owner_id: str, log: str, first: str, last: str) -> None:
    """Ingest one file after the other, and log each acknowledged one. This is the process that is killed."""
    owner = UUID(owner_id)
    scope = Scope(UUID(tenant_id), owner, Role.MEMBER, Actor(ActorKind.SERVICE, "bench"), (owner,))
    database = Database(dsn, size=2)
    await database.open()
    with Path(log).open("a", encoding="ascii") as acknowledged:
        for number in range(int(first), int(last)):
            place = number % FILES
            address = f"kilns/{place}.{'md' if place % 7 else 'html'}"
            done: Any = await ingest_source(database, scope, IngestDraft(file_content(number), "reference", address))
            acknowledged.write(f"{number} {done.source_id} {done.page_id or done.proposal_id}\n")
            acknowledged.flush()
    await database.close()


if __name__ == "__main__":
    uvloop.run(ingest(*sys.argv[1:]))
