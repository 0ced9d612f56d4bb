"""Starts a service, and sends requests to it over GraphQL as any client does."""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvloop
from rich.console import Console

from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.scope import Scope
from resolvers.auth.credentials import mint
from resolvers.sources.retain import BATCH_MAX

from ..graphql.servers import SECRET, UNTHROTTLED
from ..import_export.scopes import new_scope
from ..processes import Server, running_server
from .conversations import Session

MEMORY = {"shared_buffers": "512MB", "max_wal_size": "4GB"}
HOUR = 3600.0
PAGE_SIZE = 50  # passages per request
stderr = Console(stderr=True)
RETAIN = """mutation ($input: RetainWikiSourcesInput!) {
  retainWikiSources(input: $input) { items { sourceId } userErrors { message field } }
}"""
SEARCH = """query ($query: String!, $first: Int!, $after: String) {
  wikiSearchSources(query: $query, first: $first, after: $after) {
    nodes { lineStart lineEnd source { ref } }
    pageInfo { hasNextPage endCursor }
  }
}"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found: the ref of its source, and its lines."""

    ref: str
    line_start: int
    line_end: int


@dataclass(frozen=True)
class Service:
    """A running service, its Postgres, and a client that waits for each response."""

    server: Server
    dsn: str
    client: httpx.Client

    def wiki(self, name: str) -> "Wiki":
        """Create a tenant with a wiki."""
        return self.client_of(uvloop.run(create_scope(self.dsn, name)))

    def client_of(self, scope: Scope) -> "Wiki":
        token = mint(SECRET, tenant_id=scope.tenant_id, owner_id=scope.owner_id, role=scope.role, ttl=24 * HOUR)
        return Wiki(self.client, {"authorization": f"Bearer {token}"}, scope)


@dataclass(frozen=True)
class Wiki:
    """One wiki, with a credential for it."""

    client: httpx.Client
    headers: Mapping[str, str]
    scope: Scope

    def ask(self, document: str, **variables: Any) -> dict[str, Any]:
        """Return the data of the response. Raises RuntimeError for any error: figures with errors mean nothing."""
        answer = self.client.post("/graphql", headers=self.headers, json={"query": document, "variables": variables})
        body = answer.json()
        if answer.status_code != httpx.codes.OK or body.get("errors"):
            raise RuntimeError(f"The service answered {answer.status_code}: {answer.text[:500]}")
        data: dict[str, Any] = body["data"]
        return data

    def retain(self, sources: Sequence[Session], step: Callable[[int], object] = lambda _: None) -> None:
        """Retain the sources in the largest allowed batches. `step` is called with the size of each batch."""
        for start in range(0, len(sources), BATCH_MAX):
            part = sources[start : start + BATCH_MAX]
            payload = self.ask(RETAIN, input={"sources": list(map(source, part))})["retainWikiSources"]
            if payload["userErrors"]:
                raise RuntimeError(f"Sources were not kept: {payload['userErrors'][:3]}")
            step(len(part))

    def search(self, text: str, is_enough: Callable[[Sequence[Hit]], bool] = lambda _: True) -> list[Hit]:
        """Return passages, the best first. Reads more pages of results until `is_enough` or the last page."""
        hits: list[Hit] = []
        after = None
        while True:
            found = self.ask(SEARCH, query=text, first=PAGE_SIZE, after=after)["wikiSearchSources"]
            hits += [hit(node) for node in found["nodes"]]
            if is_enough(hits) or not found["pageInfo"]["hasNextPage"]:
                return hits
            after = found["pageInfo"]["endCursor"]


def source(session: Session) -> dict[str, str]:
    """Return a session as an input of the mutation. Its time is when the session took place."""
    moment = session.captured_at.isoformat()
    return {"kind": "MEMORY_UNIT", "ref": session.ref, "content": session.content, "capturedAt": moment}


def hit(node: dict[str, Any]) -> Hit:
    return Hit(node["source"]["ref"], node["lineStart"], node["lineEnd"])


@contextmanager
def running() -> Iterator[Service]:
    """Start a service without rate limits on an empty database, and remove both after the block."""
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        embedded = EmbeddedServer(folder / "data", durable=False)
        embedded.settings = embedded.settings | MEMORY
        with embedded as dsn:
            uvloop.run(migrate(dsn))
            settings = {
                "CAIRN_DATABASE_URL": dsn,
                "CAIRN_DATA_DIR": str(folder / "cairn"),
                "CAIRN_JWT_SECRET": SECRET,
                "CAIRN_WORKERS": "1",
                "CAIRN_LOG_LEVEL": "warning",
                **UNTHROTTLED,
            }
            command = [sys.executable, "-c", "from app.cli import main; main()", "serve"]
            with (
                running_server("cairn", command, settings, folder / "log") as server,
                httpx.Client(base_url=server.url, timeout=600, trust_env=False) as client,
            ):
                yield Service(server, dsn, client)


async def create_scope(dsn: str, name: str) -> Scope:
    database = Database(dsn, size=1)
    await database.open()
    try:
        return await new_scope(database, name)
    finally:
        await database.close()
