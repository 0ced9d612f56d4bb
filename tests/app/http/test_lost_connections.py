"""If Postgres is lost in the middle of a request, the error is UNAVAILABLE in every API and at every step."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest
from asyncpg import InterfaceError

from db.committing import committing, savepoint
from db.embedded import EmbeddedServer
from resolvers.transactions.db_errors import refusal
from tests.app.service import Service, serving
from tests.conftest import copy_server, new_folder
from tests.postgres_proxy import Loss, Proxy
from tests.waiting import within
from tests.wiki import Wiki, check_derived_rows, close_wiki, open_wiki

MAKE = """mutation($input: CreateWikiPageInput!) {
  createWikiPage(input: $input) { page { title } userErrors { message } }
}"""
READ = "{ recentWikiPages(limit: 5) { title sections { heading } backlinks(first: 3) { nodes { title } } } }"
BODY = "About [[Kilns]].\n\n## Notes\n\nSee [[Clay]]."
STEPS = 100  # more round trips than any write here makes
APIS = ("graphql", "rest", "mcp")


class Client:
    """A client that creates and reads pages over one of the APIs."""

    def __init__(self, service: Service, token: str, api: str) -> None:
        self.http, self.endpoint, self.headers = service.http, api, {"authorization": f"Bearer {token}"}

    async def create(self, title: str, key: str | None = None) -> httpx.Response:
        headers = {} if key is None else {"idempotency-key": key}
        if self.endpoint == "rest":
            page = {"title": title, "type": "topic", "content": BODY, "tags": ["pottery"]}
            return await self.send("/api/wiki/pages", page, headers)
        if self.endpoint == "mcp":
            return await self.call("wiki_create", {"title": title, "type": "topic", "content": BODY})
        page = {"title": title, "type": "TOPIC", "bodyMd": BODY, "tags": ["pottery"], "aliases": [f"{title} too"]}
        return await self.send("/graphql", {"query": MAKE, "variables": {"input": page}}, headers)

    async def read(self) -> httpx.Response:
        if self.endpoint == "rest":
            return await self.http.get("/api/wiki/pages", headers=self.headers)
        if self.endpoint == "mcp":
            return await self.call("wiki_search", {"query": "kilns"})
        return await self.send("/graphql", {"query": READ}, {})

    async def call(self, tool: str, arguments: dict[str, Any]) -> httpx.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return await self.send("/mcp", message, {"accept": "application/json, text/event-stream"})

    async def send(self, path: str, body: Any, headers: dict[str, str]) -> httpx.Response:
        return await self.http.post(path, json=body, headers=self.headers | headers)


def error_codes(answer: httpx.Response) -> set[str]:
    """Return the codes of the errors in a response of any API."""
    body = answer.json()
    if "jsonrpc" in body:
        result = body.get("result", {})
        return {result["_meta"]["cairn/error"]["code"]} if result.get("isError") else set()
    if "code" in body:
        return {body["code"]}
    return {error["extensions"]["code"] for error in body.get("errors", ())}


def was_done(answer: httpx.Response) -> bool:
    """Return whether the write was done; if not, assert that the response is UNAVAILABLE and says when to retry."""
    if codes := error_codes(answer):
        assert codes == {"UNAVAILABLE"}, answer.text
        assert answer.headers["retry-after"] == "1"
        partly_done = any((answer.json().get("data") or {}).values())
        assert answer.status_code == (200 if partly_done or "jsonrpc" in answer.json() else 503)
    else:
        assert answer.status_code in (200, 201), answer.text
    return not codes


@pytest.fixture
async def proxy(dsn: str) -> AsyncIterator[Proxy]:
    async with Proxy(dsn).open() as proxy:
        yield proxy


@pytest.fixture
async def service(proxy: Proxy, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(proxy.dsn, tmp_path) as service:
        yield service


async def titles(wiki: Wiki) -> list[str]:
    return [row["title"] for row in await wiki.rows("pages")]


@pytest.mark.parametrize("api", APIS)
async def test_a_backend_lost_at_any_step_of_a_write_is_reported_as_unavailable(
    service: Service, token: str, wiki: Wiki, proxy: Proxy, api: str
) -> None:
    client = Client(service, token, api)
    assert was_done(await client.create("Kilns"))
    for step in range(1, STEPS):
        lost, title = proxy.lost, f"Page {step}"
        proxy.lose(step)
        done = was_done(await client.create(title))
        assert not done or title in await titles(wiki)
        if done and proxy.lost == lost:
            break
    else:
        pytest.fail("no write came to its end")
    assert step > 4
    await check_derived_rows(wiki)


@pytest.mark.parametrize("api", APIS)
async def test_a_backend_lost_at_any_step_of_a_read_is_reported_as_unavailable(
    service: Service, token: str, wiki: Wiki, proxy: Proxy, api: str
) -> None:
    client = Client(service, token, api)
    assert was_done(await client.create("Kilns"))
    for step in range(1, STEPS):
        lost = proxy.lost
        proxy.lose(step)
        if was_done(await client.read()) and proxy.lost == lost:
            break
    else:
        pytest.fail("no read came to its end")
    assert proxy.lost > 0


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("api", ["graphql", "rest"])
async def test_an_idempotent_write_is_done_once_despite_lost_backends(
    service: Service, token: str, wiki: Wiki, proxy: Proxy, api: str, when: Loss
) -> None:
    client = Client(service, token, api)
    for step in range(1, STEPS):
        lost, key, title = proxy.lost, uuid4().hex, f"Page {step}"
        proxy.lose(step, when)
        done = was_done(await client.create(title, key))
        survived = done and proxy.lost == lost
        while not done:
            done = was_done(await client.create(title, key))
        assert (await titles(wiki)).count(title) == 1
        if survived:
            break
    else:
        pytest.fail("no write came to its end")
    await check_derived_rows(wiki)


async def test_no_acknowledged_write_is_lost_while_backends_are_killed(
    service: Service, token: str, wiki: Wiki
) -> None:
    """Random backends are killed at random times; each response is a success or UNAVAILABLE."""
    acknowledged: set[str] = set()
    stop = asyncio.Event()

    async def write(api: str, number: int) -> None:
        client, count = Client(service, token, api), 0
        while not stop.is_set():
            count += 1
            title = f"{api} {number} {count}"
            if was_done(await client.create(title)):
                acknowledged.add(title)
            was_done(await client.read())

    async def kill() -> None:
        chance = random.Random(16)
        connection = await asyncpg.connect(wiki.database.dsn)
        for _ in range(40):
            await asyncio.sleep(chance.uniform(0.01, 0.06))
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cairn'"
                " AND datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 2"
            )
        await connection.close()
        async with within("no write was acknowledged"):
            while not acknowledged:  # on a slow machine nothing may have come to its end until now
                await asyncio.sleep(0.05)
        stop.set()

    await asyncio.gather(kill(), *(write(api, number) for api in APIS for number in range(2)))
    found = await asyncpg.connect(wiki.database.dsn)
    stored = {row["title"] for row in await found.fetch("SELECT title FROM pages")}
    await found.close()
    assert acknowledged <= stored


async def test_no_acknowledged_write_is_lost_by_an_immediate_postgres_shutdown(
    tmp_path: Path, migrated_server_dir: Path
) -> None:
    folder = Path(new_folder())
    copy_server(migrated_server_dir, folder)
    server = EmbeddedServer(folder)
    with server as dsn:
        wiki = await open_wiki(dsn)
        async with serving(dsn, tmp_path) as service:
            token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)
            clients = [Client(service, token, api) for api in APIS]
            acknowledged: set[str] = set()
            stop = asyncio.Event()

            async def write(client: Client) -> None:
                count = 0
                while not stop.is_set():
                    count += 1
                    title = f"{client.endpoint} {count}"
                    if was_done(await client.create(title)):
                        acknowledged.add(title)
                    elif not was_done(await client.read()):
                        await asyncio.sleep(0.05)

            async def crash() -> None:
                await asyncio.sleep(0.5)
                os.kill(int(server.postmaster()[0]), signal.SIGQUIT)
                await asyncio.sleep(1)
                await asyncio.to_thread(server.launch)
                before = len(acknowledged)
                async with asyncio.timeout(60):
                    while len(acknowledged) < before + 6:
                        await asyncio.sleep(0.05)
                stop.set()

            await asyncio.gather(crash(), *map(write, clients))
            connection = await asyncpg.connect(dsn)
            stored = {row["title"] for row in await connection.fetch("SELECT title FROM pages")}
            await connection.close()
        with suppress(OSError, asyncpg.PostgresError, InterfaceError):
            await close_wiki(wiki)
    assert acknowledged <= stored


# -- which errors are those of a connection


@pytest.mark.parametrize(
    "error",
    [
        InterfaceError("connection is closed"),
        InterfaceError("cannot perform operation: connection is closed"),
        asyncpg.InternalClientError("cannot switch to state 11; another operation (2) is in progress"),
        asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation"),
        asyncpg.CannotConnectNowError("the database system is starting up"),
        asyncpg.AdminShutdownError("terminating connection due to administrator command"),
        ConnectionResetError(),
        ConnectionRefusedError(),
        TimeoutError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_a_dead_connection_are_unavailable(error: Exception) -> None:
    refused = refusal(error)
    assert refused is not None
    assert refused.code == "UNAVAILABLE"


@pytest.mark.parametrize("error", [FileNotFoundError(2, "No such file"), PermissionError(13, "Denied"), OSError("odd")])
def test_file_errors_are_not_reported_as_an_unavailable_database(error: OSError) -> None:
    assert refusal(error) is None


def test_concurrent_use_of_a_connection_is_not_reported_as_unavailable() -> None:
    assert refusal(InterfaceError("cannot perform operation: another operation is in progress")) is None


@pytest.mark.parametrize("block", [committing, savepoint])
async def test_a_rollback_on_a_closed_connection_keeps_the_original_error(dsn: str, block: Any) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("BEGIN")

    async def fail() -> None:
        async with block(connection):
            connection.terminate()
            raise LookupError("the first")

    with pytest.raises(LookupError, match="the first"):
        await fail()


@pytest.mark.parametrize("block", [committing, savepoint])
async def test_a_commit_on_a_closed_connection_raises_an_error(dsn: str, block: Any) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("BEGIN")

    async def lose() -> None:
        async with block(connection):
            connection.terminate()

    with pytest.raises(InterfaceError, match="closed"):
        await lose()
