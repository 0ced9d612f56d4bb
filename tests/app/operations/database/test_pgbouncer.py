"""Tests the service behind PgBouncer, which in transaction mode may give each transaction another connection."""

import asyncio
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from app.cli.doctor.checks import check_pooler
from app.settings import Settings
from db.database import Database
from db.pooler import PoolerUnfit
from tests.app.command_line import environment, run_in_new_process
from tests.app.service import serving
from tests.connections import IDLE
from tests.waiting import SOON
from tests.wiki import Wiki

URL = "CAIRN_DATABASE_URL"
PROGRAM = shutil.which("pgbouncer")
CREATE = "mutation($i: CreateWikiPageInput!) { createWikiPage(input: $i) { page { id version } userErrors { code } } }"
SEARCH = 'query($t: ID!) { wikiSearch(tenantId: $t, query: "pecan") { page { title } } }'
READ = "{ wikiPages(first: 50) { nodes { title backlinks(first: 2) { totalCount } } } }"

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not on this machine")

CONFIGURATION = """[databases]
wiki = {target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 3
server_reset_query =
{ignoring}
"""
IGNORING = "ignore_startup_parameters = statement_timeout, jit, plan_cache_mode"


def target(dsn: str) -> tuple[str, str | None]:
    """Return the connection string of the database for PgBouncer, and the folder of its socket if it has one."""
    parts = urlsplit(dsn)
    options = parse_qs(parts.query)
    host = options.get("host", [parts.hostname or "127.0.0.1"])[0]
    known = {"host": host, "port": options.get("port", [str(parts.port or 5432)])[0], "user": parts.username}
    known |= {"password": parts.password, "dbname": parts.path.strip("/")}
    return " ".join(f"{name}={value}" for name, value in known.items() if value), host if host[0] == "/" else None


def account(folder: str | None) -> dict[str, Any]:
    """Return the account for PgBouncer, which refuses to run as root: that of the server, as its socket requires."""
    if os.geteuid() != 0:
        return {}
    user = Path(folder).stat().st_uid if folder else pwd.getpwnam("nobody").pw_uid
    return {"user": user, "group": user and pwd.getpwuid(user).pw_gid, "extra_groups": []}


@pytest.fixture
def pooled(dsn: str, unused_port: int) -> Iterator[str]:
    with running(dsn, unused_port) as url:
        yield url


@pytest.fixture
def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def running(dsn: str, port: int, mode: str = "transaction", ignoring: str = IGNORING) -> Iterator[str]:
    text, folder = target(dsn)
    with tempfile.TemporaryDirectory(prefix="cairn-test-") as place:
        Path(place).chmod(0o755)
        file = Path(place) / "pgbouncer.ini"
        file.write_text(CONFIGURATION.format(target=text, port=port, mode=mode, ignoring=ignoring))
        process = subprocess.Popen([str(PROGRAM), str(file)], stderr=subprocess.PIPE, text=True, **account(folder))
        try:
            wait_for(port)
            yield f"postgresql://wiki@127.0.0.1:{port}/wiki"
        finally:
            process.kill()
            process.communicate()


def wait_for(port: int) -> None:
    end = time.monotonic() + SOON
    while True:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        assert time.monotonic() < end, "PgBouncer does not answer"
        time.sleep(0.05)


async def test_concurrent_requests_work_without_prepared_statements(pooled: str, wiki: Wiki, tmp_path: Path) -> None:
    """The requests are reads, writes and plans of slow operations on three connections."""
    async with serving(pooled, tmp_path, statement_cache=0, slow_operation=0.000001, metrics="local") as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)

        async def write(number: int) -> dict[str, Any]:
            draft = {"type": "TOPIC", "title": f"Page {number}", "summary": "Pecan pie."}
            return await service.ask(CREATE, token, i=draft)

        written = await asyncio.gather(*(write(number) for number in range(12)))
        assert [answer["data"]["createWikiPage"]["userErrors"] for answer in written] == [[]] * 12
        read = await asyncio.gather(*(service.ask(READ, token) for _ in range(24)))
        assert [len(answer["data"]["wikiPages"]["nodes"]) for answer in read] == [12] * 24
        found = await service.ask(SEARCH, token, t=str(wiki.scope.tenant_id))
        assert len(found["data"]["wikiSearch"]) == 12
        assert (await service.http.get("/readyz")).json() == {"status": "ok"}
        assert "cairn_jobs" in (await service.http.get("/metrics")).text


async def test_the_statement_timeout_of_the_role_applies_through_pgbouncer(
    pooled: str, wiki: Wiki, tmp_path: Path, dsn: str
) -> None:
    """PgBouncer drops the startup parameters of a session, so the operator sets the timeout for the role."""
    role = await wiki.connection.fetchval("SELECT current_user")
    name = await wiki.connection.fetchval("SELECT current_database()")
    await wiki.connection.execute(f"ALTER ROLE {role} IN DATABASE {name} SET statement_timeout = '200ms'")
    try:
        async with serving(pooled, tmp_path, statement_cache=0) as service:
            token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
            holder = await asyncpg.connect(dsn, server_settings={"statement_timeout": "0"})
            async with holder.transaction():
                await holder.execute("LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
                answer = await service.ask("{ recentWikiPages { id } }", token)
            await holder.close()
        assert answer["errors"][0]["extensions"]["code"] == "TIMEOUT"
    finally:
        await wiki.connection.execute(f"ALTER ROLE {role} IN DATABASE {name} RESET statement_timeout")


async def test_the_error_for_refused_startup_parameters_contains_the_fix(dsn: str, unused_port: int) -> None:
    with running(dsn, unused_port, ignoring="") as pooled, pytest.raises(PoolerUnfit, match=IGNORING):
        await Database(pooled, statement_cache=0).open()


async def test_prepared_statements_through_a_transaction_pooler_are_refused(pooled: str) -> None:
    with pytest.raises(PoolerUnfit, match="CAIRN_STATEMENT_CACHE=0"):
        await Database(pooled).open()


async def test_prepared_statements_through_a_session_pooler_are_accepted(dsn: str, unused_port: int) -> None:
    with running(dsn, unused_port, mode="session") as pooled:
        database = Database(pooled, size=1)
        await database.open()
        assert database.is_pooled
        await database.close()


async def test_the_doctor_names_each_missing_setting_of_the_pooler(dsn: str, unused_port: int, wiki: Wiki) -> None:
    """Without a pooler the doctor reports nothing."""
    given = {"statement_cache": 0, "statement_timeout": 7.0}
    assert await check_pooler(Settings(**given), dsn) == []  # type: ignore[arg-type]
    with running(dsn, unused_port, ignoring="") as pooled:
        (found,) = await check_pooler(Settings(**given), pooled)  # type: ignore[arg-type]
        assert (found.state, "ignore_startup_parameters" in found.message) == ("failed", True)
    with running(dsn, unused_port) as pooled:
        (found,) = await check_pooler(Settings(), pooled)
        assert (found.state, "CAIRN_STATEMENT_CACHE=0" in found.message) == ("failed", True)
        (found,) = await check_pooler(Settings(**given), pooled)  # type: ignore[arg-type]
        role = await wiki.connection.fetchval("SELECT current_user")
        assert (found.state, found.action) == ("failed", f"Run: ALTER ROLE {role} SET statement_timeout = '7s';")
        name = await wiki.connection.fetchval("SELECT current_database()")
        await wiki.connection.execute(f"ALTER ROLE {role} IN DATABASE {name} SET statement_timeout = '7s'")
    try:
        with running(dsn, unused_port) as pooled, IDLE.disabled():  # idle connections ended with the former PgBouncer
            (found,) = await check_pooler(Settings(**given), pooled)  # type: ignore[arg-type]
            assert (found.check, found.state) == ("pooler", "ok"), found.message
    finally:
        await wiki.connection.execute(f"ALTER ROLE {role} IN DATABASE {name} RESET statement_timeout")


def test_a_service_behind_an_unsuitable_pooler_reports_it_and_ends(
    pooled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.app.command_line.environment", lambda folder: environment(folder) | {URL: pooled})
    for arguments in (("serve", "--port", "0"), ("tenants", "list")):
        result = run_in_new_process(tmp_path, *arguments)
        assert (result.code, "CAIRN_STATEMENT_CACHE=0" in result.err) == (1, True), result.err
