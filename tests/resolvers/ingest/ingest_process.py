"""The target of a process, which tests kill, that ingests files and logs each acknowledged file."""

import asyncio
from pathlib import Path
from uuid import UUID

from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.ingest.ingest import IngestDraft, ingest_source


def note_bytes(number: int, version: int) -> bytes:
    """Return the bytes of a note. Every seventh is a web page, which another process parses."""
    text = f"Kiln {number} was fired {version} times. It holds {number * 7} bowls."
    if number % 7 == 0:
        return f"<html><body><h1>Kiln {number}</h1><p>{text}</p></body></html>".encode()
    return f"# Kiln {number}\r\n\r\n{text}\r\n".encode()


def draft(number: int, version: int) -> IngestDraft:
    return IngestDraft(note_bytes(number, version), "reference", f"kilns/{number}.{'md' if number % 7 else 'html'}")


async def ingest_files(dsn: str, tenant_id: str, owner_id: str, log: str, first: int, last: int) -> None:
    owner = UUID(owner_id)
    scope = Scope(UUID(tenant_id), owner, Role.MEMBER, Actor(ActorKind.SERVICE, "test"), (owner,))
    database = Database(dsn, size=2)
    await database.open()
    with Path(log).open("a", encoding="ascii") as acknowledgements:
        for number in range(first, last):
            done = await ingest_source(database, scope, draft(number % 40, number // 40 + 1))
            acknowledgements.write(f"{number} {done.source_id} {done.page_id or done.proposal_id}\n")
            acknowledgements.flush()
    await database.close()


def run_ingest(dsn: str, tenant_id: str, owner_id: str, log: str, first: int, last: int) -> None:
    asyncio.run(ingest_files(dsn, tenant_id, owner_id, log, first, last))
