"""Provides a service over a new wiki, and commands that run in the process of the test."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from app.cli.program import main
from db import database
from db.listening import BEATS
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.tenants.tenants import create_tenant
from tests.app.clients.agents import Agent, agent
from tests.app.clients.web_client import signed_in
from tests.app.command_line import CommandResult, RunCommand
from tests.app.service import Service, serving
from tests.wiki import Wiki, close_wiki, open_wiki


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    """An empty wiki with an admin's credential."""
    wiki = await open_wiki(dsn)
    yield wiki
    await close_wiki(wiki)


@pytest.fixture
async def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that operations send to Postgres, without leases, heartbeats and the cleaning of connections."""
    sent: list[str] = []
    prepare = database.prepare_connection

    def note(record: Any) -> None:
        if record.query and "throttles" not in record.query and record.query != BEATS.sql:
            sent.append(record.query)

    async def listening(connection: asyncpg.Connection) -> None:
        await prepare(connection)
        connection.add_query_logger(note)

    monkeypatch.setattr(database, "prepare_connection", listening)
    return sent


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, tmp_path) as service:
        yield service


@pytest.fixture
def token(service: Service, wiki: Wiki) -> str:
    """A token for the wiki's admin."""
    return service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)


@pytest.fixture
async def browser(service: Service, token: str) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that has signed in to the reader with that token."""
    async with signed_in(service, token) as browser:
        yield browser


@pytest.fixture
async def owner(wiki: Wiki) -> str:
    """The slug of the wiki's owner."""
    sql = "SELECT slug FROM owners WHERE tenant_id = $1 AND id = $2"
    return str(await wiki.connection.fetchval(sql, wiki.scope.tenant_id, wiki.scope.owner_id))


@pytest.fixture
async def mcp_agent(service: Service, token: str) -> AsyncIterator[Agent]:
    """An MCP agent with that token. It has its own task, because its client must end in the task in which it began."""
    connected, finished = asyncio.get_running_loop().create_future(), asyncio.Event()

    async def keep_connected() -> None:
        async with agent(service, token) as connected_agent:
            connected.set_result(connected_agent)
            await finished.wait()

    task = asyncio.create_task(keep_connected())
    await asyncio.wait((task, connected), return_when=asyncio.FIRST_COMPLETED)
    yield connected.result() if connected.done() else await task
    finished.set()
    await task


@pytest.fixture
def run_cairn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> RunCommand:
    """Return a function that runs a command in this process, with an empty data folder and no other settings."""
    for name in [name for name in os.environ if name.startswith("CAIRN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CAIRN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str) -> CommandResult:
        capsys.readouterr()
        code = main(arguments)
        return CommandResult(code, *capsys.readouterr())

    return run


@pytest.fixture
async def run_in_acme(run_cairn: RunCommand, dsn: str, monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """Return a function that runs a command on a database with the tenant acme and its owners mara and team."""
    monkeypatch.setenv("CAIRN_DATABASE_URL", dsn)
    opened = database.Database(dsn, size=1)
    await opened.open()
    tenant = await create_tenant(opened, "acme", "Acme Ltd")
    await create_owner(opened, tenant.id, OwnerKind.USER, "mara", "mara")
    await create_owner(opened, tenant.id, OwnerKind.SHARED, "team", "The team")
    await opened.close()
    return run_cairn
