"""Tests that a replica answers every query as the primary does, without a statement that writes."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.wikis import wiki, write_wikis
from db.database import Database
from db.replicas.replicas import Replicas, ReplicaSettings
from db.replicas.routing import ROUTE, Route
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.context import Context
from schema.root import make_engine
from tests.plans.cases import CASES, values
from tests.standby import Pair, running_pair

PLACE = wiki(1, 1, 60, hub=10)
ENGINE = make_engine()
ANY_COST = 10**9


@pytest.fixture(scope="module")
def pair(migrated_server_dir: Path) -> Iterator[Pair]:
    with running_pair(migrated_server_dir, is_synchronous=False) as servers:
        asyncio.run(write_wikis(servers.dsn(servers.sockets()[0]), [PLACE]))
        yield servers


@pytest.fixture
async def database(pair: Pair) -> AsyncIterator[Database]:
    primary, standby = map(pair.dsn, pair.sockets())
    database = Database(primary, size=2, replicas=ReplicaSettings((standby,)))
    await database.open()
    async with asyncio.timeout(60):
        while not replicas_of(database).members[0].serves:
            await asyncio.sleep(0.02)
    yield database
    await database.close()


def replicas_of(database: Database) -> Replicas:
    assert database.replicas is not None
    return database.replicas


async def answered(database: Database, document: str, role: Role) -> dict[str, Any]:
    owner = PLACE.owner_id
    scope = Scope(PLACE.tenant_id, owner, role, Actor(ActorKind.USER, "marco"), (owner,))
    answer = await ENGINE.execute(document, values(PLACE), None, Context(database, scope, ANY_COST))
    found: dict[str, Any] = orjson.loads(answer.body)
    assert "errors" not in found, found["errors"]
    return found


async def test_every_query_is_answered_by_a_replica_as_by_the_primary(database: Database) -> None:
    replicas = replicas_of(database)
    position = await replicas.position()
    for name, case in CASES.items():
        expected = await answered(database, case.document, Role.ADMIN)
        before, on_primary = replicas.members[0].reads, replicas.on_primary
        route = ROUTE.set(Route(position))
        try:
            assert await answered(database, case.document, Role.ADMIN) == expected, name
        finally:
            ROUTE.reset(route)
        assert (dict(replicas.fallbacks), replicas.on_primary) == ({}, on_primary), name
        assert replicas.members[0].reads > before, name
