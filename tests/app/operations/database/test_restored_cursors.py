"""Tests cursors of the change feed after the database was restored from a backup."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from app.cli.commands.service import begin_history
from db.scope import Role
from tests.app.clients.rest_client import RestClient, status_and_code
from tests.app.service import Service, serving
from tests.conftest import drop_database, new_database_name
from tests.connections import IDLE
from tests.wiki import Wiki, close_wiki, open_wiki

CHANGES = "query ($after: String) { wikiChanges(after: $after) { nodes { position } pageInfo { endCursor } } }"


@pytest.fixture(autouse=True)
def connection_reuse() -> Iterator[None]:
    with IDLE.disabled():
        yield


class Backups:
    """Copies a database and restores it from the copy, while no client is connected."""

    def __init__(self, server_dsn: str, dsn: str) -> None:
        self.server_dsn, self.name, self.backup = server_dsn, urlsplit(dsn).path.strip("/"), new_database_name()

    async def run(self, *statements: str) -> None:
        connection = await asyncpg.connect(self.server_dsn)
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    async def make(self) -> None:
        await self.run(f"CREATE DATABASE {self.backup} TEMPLATE {self.name}")

    async def restore(self) -> None:
        await self.run(f"DROP DATABASE {self.name}", f"CREATE DATABASE {self.name} TEMPLATE {self.backup}")


@pytest.fixture
def backups(server_dsn: str, dsn: str, cluster: object) -> Iterator[Backups]:
    if cluster is not None:
        pytest.skip("a database on Citus cannot be copied")
    found = Backups(server_dsn, dsn)
    yield found
    drop_database(server_dsn, found.backup)


def bare(cursor: str) -> str:
    """Return the cursor that an older release issued for the same position."""
    name, position, _ = json.loads(base64.b64decode(cursor))
    return base64.b64encode(json.dumps([name, position]).encode()).decode()


async def follow(service: Service, token: str, after: str | None) -> Any:
    answer = await service.ask(CHANGES, token, after=after)
    if "errors" in answer:
        return answer["errors"][0]["extensions"]["code"]
    found = answer["data"]["wikiChanges"]
    return [node["position"] for node in found["nodes"]], found["pageInfo"]["endCursor"]


async def test_a_client_ahead_of_a_restored_backup_must_start_again(dsn: str, backups: Backups, tmp_path: Path) -> None:
    wiki = await open_wiki(dsn)
    tenant, owner = wiki.scope.tenant_id, wiki.scope.owner_id
    async with serving(dsn, tmp_path) as service:
        token = service.token(tenant, owner, Role.ADMIN)
        rest = RestClient(service.http, token)
        await rest.create_page("Kiln")
        positions, seen = await follow(service, token, None)
        assert positions == [1]
        assert await follow(service, token, seen) == ([], None)
    await close_wiki(wiki)
    await backups.make()
    async with serving(dsn, tmp_path) as service:
        rest = RestClient(service.http, token)
        await rest.create_page("Glaze")
        _, ahead = await follow(service, token, seen)
    await backups.restore()
    async with serving(dsn, tmp_path) as service:
        rest = RestClient(service.http, token)
        assert await follow(service, token, ahead) == "CURSOR_EXPIRED"
        assert await follow(service, token, bare(ahead)) == "CURSOR_EXPIRED"
        assert status_and_code(await rest.get("/changes", params={"cursor": ahead})) == (410, "CURSOR_EXPIRED")
        assert await follow(service, token, bare(seen)) == ([], None)
        for title in ("Shelf", "Cone"):
            await rest.create_page(title)
        assert await follow(service, token, ahead) == "CURSOR_EXPIRED"
        positions, again = await follow(service, token, None)
        assert positions == [1, 2, 3]
        assert await follow(service, token, again) == ([], None)
        listed = (await rest.get("/changes")).json()
        assert (await rest.get("/changes", params={"cursor": listed["resume"]})).json()["items"] == []


async def test_a_cursor_of_an_older_release_still_works(service: Service, token: str, wiki: Wiki) -> None:
    rest = RestClient(service.http, token)
    for title in ("Kiln", "Glaze"):
        await rest.create_page(title)
    _, cursor = await follow(service, token, None)
    first = base64.b64encode(b'["position", 1]').decode()
    assert (await follow(service, token, first))[0] == [2]
    assert await follow(service, token, bare(cursor)) == ([], None)
    walked = await service.ask(
        "query ($before: String) { wikiChanges(last: 5, before: $before) { nodes { position } } }", token, before=cursor
    )
    assert walked["data"]["wikiChanges"]["nodes"] == [{"position": 1}]


async def test_an_operator_can_expire_cursors_after_restoring_a_backup(
    service: Service, token: str, wiki: Wiki
) -> None:
    """A server cannot detect by itself that its volume was restored."""

    await RestClient(service.http, token).create_page("Kiln")
    _, cursor = await follow(service, token, None)
    await begin_history(wiki.database)
    assert await follow(service, token, cursor) == "CURSOR_EXPIRED"
    for wrong in (cursor[:-3], base64.b64encode(b'["position", 1, 2]').decode()):
        assert await follow(service, token, wrong) == "BAD_USER_INPUT"
