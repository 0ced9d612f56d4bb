"""Tests a primary, a replica and PgBouncer with the settings of the compose file."""

import asyncio
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from ruamel.yaml import YAML

from app.settings import Settings
from db.embedded import programs
from tests.app.operations.database.test_failover import Pair, pair
from tests.app.operations.database.test_pgbouncer import CREATE, PROGRAM, READ, SEARCH, account, unused_port, wait_for
from tests.app.service import SECRET, Service, serving
from tests.wiki import Wiki, check_derived_rows, close_wiki, open_wiki

__all__ = ["pair", "unused_port"]
COMPOSED = YAML(typ="safe").load((Path(__file__).parents[4] / "docker-compose.yml").read_text())
PASSWORD = "letters1and2digits"
SECRETS = re.compile(r"\$\{CAIRN_POSTGRES_PASSWORD:\?[^}]*\}")
UPDATE = "mutation($i: UpdateWikiPageInput!) { updateWikiPage(input: $i) { page { version } userErrors { code } } }"
PAGE = "query($t: ID!, $s: String!) { wikiPage(tenantId: $t, type: TOPIC, slug: $s) { version summary } }"

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not on this machine")


@contextmanager
def pooled(primary: Path, port: int) -> Iterator[None]:
    """Run PgBouncer with the configuration of the compose file, except for paths, hosts and ports."""
    with tempfile.TemporaryDirectory(prefix="cairn-test-") as name:
        place = Path(name)
        place.chmod(0o755)
        text, users = (COMPOSED["configs"][one]["content"] for one in ("pgbouncer", "pgbouncer-users"))
        changes = {
            r"host=postgres port=5432 dbname=cairn user=cairn": f"host={primary} dbname=cairn user=postgres",
            r"listen_addr = \*": "listen_addr = 127.0.0.1",
            r"listen_port = 6432": f"listen_port = {port}",
            r"/etc/pgbouncer/userlist\.txt": f"{place}/userlist.txt",
        }
        for known, changed in changes.items():
            text, count = re.subn(known, changed, text)
            assert count == 1, known
        (place / "pgbouncer.ini").write_text(SECRETS.sub(PASSWORD, text))
        (place / "userlist.txt").write_text(SECRETS.sub(PASSWORD, users))
        command, own = [str(PROGRAM), f"{place}/pgbouncer.ini"], account(str(primary))
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **own)
        try:
            wait_for(port)
            yield
        finally:
            process.kill()
            process.communicate()


@pytest.fixture
def settings(pair: Pair, unused_port: int) -> Iterator[dict[str, Any]]:
    """Return the settings of the service `cairn-pooled`, except for hosts and ports, while PgBouncer runs."""
    first, second = (Path(place) for place in pair.sockets())
    given = {name.removeprefix("CAIRN_").lower(): value for name, value in environment().items()}
    places = {
        "database_url": f"postgresql://cairn:{PASSWORD}@127.0.0.1:{unused_port}/cairn",
        "listen_url": pair.dsn(str(first)),
        "read_database_urls": pair.dsn(str(second)),
        "jwt_secret": SECRET,
    }
    assert places.keys() <= given.keys()
    with pooled(first, unused_port):
        yield given | places


@pytest.fixture
def copied(pair: Pair) -> Iterator[Callable[[], Path]]:
    """Return a function that copies the primary as the service `replica` does, and returns the data folder."""
    primary = pair.sockets()[0]
    (text,) = COMPOSED["services"]["replica"]["command"]
    for known, changed in (
        (r"--host postgres --username cairn", f"--host {primary} --username postgres"),
        (r"exec postgres -c hot_standby_feedback=on", "exec true"),
        (r"\$\$", "$"),
    ):
        text, count = re.subn(known, changed, text)
        assert count, known
    with tempfile.TemporaryDirectory(prefix="cairn-test-") as name:
        volume, own = Path(name), account(primary)
        if own:
            os.chown(volume, own["user"], own["group"])
        data = volume / "18" / "docker"
        given = {"PATH": f"{programs()}:{os.environ['PATH']}", "PGDATA": str(data)}

        def copy() -> Path:
            subprocess.run(["bash", "-euc", text], env=given, check=True, capture_output=True, timeout=120, **own)
            return data

        yield copy


def environment() -> dict[str, str]:
    return dict(COMPOSED["services"]["cairn-pooled"]["environment"])


async def calls(service: Service, wiki: Wiki) -> None:
    """Send concurrent writes and reads over GraphQL, and a search over REST."""
    tenant_id, token = str(wiki.scope.tenant_id), service.token(wiki.scope.tenant_id, wiki.scope.owner_id)

    async def write(number: int) -> str:
        draft = {"type": "TOPIC", "title": f"Page {number}", "summary": "Pecan pie."}
        created = (await service.ask(CREATE, token, i=draft))["data"]["createWikiPage"]
        assert created["userErrors"] == []
        return str(created["page"]["id"])

    ids = await asyncio.gather(*map(write, range(12)))
    changes = [service.ask(UPDATE, token, i={"pageId": id, "summary": "Pecan tree."}) for id in ids]
    assert {answer["data"]["updateWikiPage"]["page"]["version"] for answer in await asyncio.gather(*changes)} == {2}
    async with asyncio.timeout(30):  # a replica may be behind by a moment
        while len((await service.ask(SEARCH, token, t=tenant_id))["data"]["wikiSearch"]) < 10:
            await asyncio.sleep(0.05)
        while (await service.ask(PAGE, token, t=tenant_id, s="page-3"))["data"]["wikiPage"] != {
            "version": 2, "summary": "Pecan tree.",
        }:  # fmt: skip
            await asyncio.sleep(0.05)
    read = await asyncio.gather(*(service.ask(READ, token) for _ in range(24)))
    assert [len(answer["data"]["wikiPages"]["nodes"]) for answer in read] == [12] * 24
    headers = {"authorization": f"Bearer {token}"}
    found = await service.http.get("/api/wiki/search", params={"q": "pecan"}, headers=headers)
    assert (found.status_code, (await service.http.get("/readyz")).json()) == (200, {"status": "ok"}), found.text


async def test_the_api_answers_through_pgbouncer_beside_a_replica(
    pair: Pair, settings: dict[str, Any], tmp_path: Path
) -> None:
    wiki = await open_wiki(pair.dsn(pair.sockets()[0]))
    known = {name: value for name, value in settings.items() if name in Settings.model_fields}
    try:
        async with serving(known.pop("database_url"), tmp_path, **known) as service:
            await calls(service, wiki)
        await check_derived_rows(wiki)
    finally:
        await close_wiki(wiki)


async def test_statements_through_pgbouncer_have_a_timeout(pair: Pair, settings: dict[str, Any]) -> None:
    connection = await asyncpg.connect(settings["database_url"], statement_cache_size=0)
    assert await connection.fetchval("SHOW statement_timeout") == "10s"
    await connection.close()


def test_a_replica_copies_the_primary_once(copied: Callable[[], Path]) -> None:
    data = copied()
    assert (data / "standby.signal").exists()
    before = (data / "PG_VERSION").stat().st_ino
    assert copied() == data
    assert (data / "PG_VERSION").stat().st_ino == before
    assert [path.name for path in data.parent.iterdir()] == [data.name]


def test_an_interrupted_copy_is_made_again(copied: Callable[[], Path]) -> None:
    data = copied()
    whole = data.parent / f"{data.name}.part"
    data.rename(whole)
    (whole / "global" / "pg_control").unlink()
    assert copied() == data
    assert (data / "global" / "pg_control").exists()
    assert not whole.exists()


@pytest.mark.skipif(
    "read_database_urls" not in Settings.model_fields, reason="this version reads from the primary alone"
)
async def test_the_replica_answers_reads(pair: Pair, settings: dict[str, Any], tmp_path: Path) -> None:
    first, second = pair.sockets()
    wiki = await open_wiki(pair.dsn(first))
    scanned = "SELECT sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0)) FROM pg_stat_user_tables"
    connection = await asyncpg.connect(pair.dsn(second))
    try:
        async with serving(settings.pop("database_url"), tmp_path, **settings) as service:
            await calls(service, wiki)
            before = await connection.fetchval(scanned)
            token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
            async with asyncio.timeout(60):
                while await connection.fetchval(scanned) <= before:
                    await service.ask(READ, token)
    finally:
        await connection.close()
        await close_wiki(wiki)
