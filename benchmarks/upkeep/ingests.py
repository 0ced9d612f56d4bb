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

from ..compiler.database import new_wiki, opened, served

FILES = 40  # addresses: each further ingest from the same address is its next version
BY_HALF = {
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
KEPT = """
    SELECT s.id, b.hash, b.data FROM sources AS s
    JOIN source_originals AS o ON o.source_id = s.id JOIN blobs AS b ON b.hash = o.hash"""


def ingests(
    number: Annotated[int, typer.Option(min=1, help="Acknowledged ingests.")] = 1_000,
    kills: Annotated[int, typer.Option(min=0, help="Minimum of processes that are killed.")] = 100,
    policy: Annotated[Policy, typer.Option(help="Whether pages are created or proposed.")] = Policy.OPEN,
    seed: Annotated[int, typer.Option(help="The same seed gives the same moments.")] = 1,
) -> None:
    """Ingest files with processes that are killed with SIGKILL, and look for lost and for partial ingests."""
    with served() as dsn, tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
        uvloop.run(struck(dsn, Path(folder) / "told", number, kills, policy, random.Random(seed)))


async def struck(dsn: str, log: Path, number: int, kills: int, policy: Policy, chance: random.Random) -> None:
    database, look = await opened(dsn), await asyncpg.connect(dsn)
    scope = await new_wiki(database, "acme", "mara")
    rules = orjson.dumps(checked_rules([PolicyRule(WriterRole.MEMBER, policy)])).decode()
    await look.execute("UPDATE owners SET write_policy = $1", rules)
    log.touch()
    begun, killed, at_work, share = time.monotonic(), 0, 0, max(1, number // (kills + 1))
    command = [sys.executable, "-m", "benchmarks.upkeep.ingests", dsn, str(scope.tenant_id), str(scope.owner_id)]
    while (done := len(told(log))) < number:
        last = number if killed >= kills else min(number, done + share)
        process = subprocess.Popen([*command, str(log), str(done), str(number)])
        while process.poll() is None and len(told(log)) < last:
            await asyncio.sleep(0.002)
        if last < number:
            await asyncio.sleep(chance.random() * 0.05)
            process.kill()
            killed += process.wait() < 0
            at_work += await look.fetchval("SELECT count(*) FROM sources") > len(told(log))
        elif process.wait():
            raise typer.Exit(process.returncode)
        if found := await by_half(look):
            print(f"After {killed} kills: {found}")
            raise typer.Exit(1)
    lost = await count_lost(look, told(log), policy)
    print(
        f"{number:,} ingests acknowledged, {killed} processes killed, {at_work} between a write and its answer: "
        f"{lost} lost or changed, 0 stored in part, {await look.fetchval('SELECT count(*) FROM sources'):,} sources, "
        f"{await look.fetchval('SELECT count(*) FROM pages')} pages, "
        f"{await look.fetchval('SELECT count(*) FROM proposals'):,} proposals, in {time.monotonic() - begun:.0f} s"
    )
    await look.close()
    await database.close()
    if lost:
        raise typer.Exit(1)


async def by_half(look: asyncpg.Connection) -> dict[str, int]:
    counts = {name: await look.fetchval(statement) for name, statement in BY_HALF.items()}
    return {name: count for name, count in counts.items() if count}


async def count_lost(look: asyncpg.Connection, said: list[tuple[int, str, str]], policy: Policy) -> int:
    """Return how many of the acknowledged ingests are missing, or differ by a byte."""
    rows = await look.fetch(KEPT)
    data = {str(row["id"]): row["data"] for row in rows if sha256(row["data"]).digest() == row["hash"]}
    table = "pages" if policy is Policy.OPEN else "proposals"
    places = {str(row["id"]) for row in await look.fetch(f"SELECT id FROM {table}")}
    whole = [data.get(source_id) == file(n) and place in places for n, source_id, place in said]
    return whole.count(False)


def told(log: Path) -> list[tuple[int, str, str]]:
    """Read the acknowledged ingests from complete lines: a number, the source, and the page or the proposal."""
    lines = log.read_text(encoding="ascii").splitlines(keepends=True)
    return [(int(n), source, place) for n, source, place in (line.split() for line in lines if line.endswith("\n"))]


def file(number: int) -> bytes:
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
    with Path(log).open("a", encoding="ascii") as said:
        for number in range(int(first), int(last)):
            place = number % FILES
            address = f"kilns/{place}.{'md' if place % 7 else 'html'}"
            done: Any = await ingest_source(database, scope, IngestDraft(file(number), "reference", address))
            said.write(f"{number} {done.source_id} {done.page_id or done.proposal_id}\n")
            said.flush()
    await database.close()


if __name__ == "__main__":
    uvloop.run(ingest(*sys.argv[1:]))
