"""The isolation walk: every field of the contract is called with the ids of others, and gives and changes nothing."""

import re
from collections.abc import AsyncIterator, Iterator
from itertools import product
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from graphql import get_named_type, get_nullable_type, is_object_type

from db.database import Database
from db.scope import Role, Scope
from db.tables import metadata
from schema.root import GRAPHQL
from selection import Engine
from tests.schema.asking import Recorder, ask
from tests.schema.minimal import UNKNOWN, Wiki, call
from tests.schema.reference.rows import Rows
from tests.schema.world import CALLERS, Row, World, caller, make_world, read_back, store

QUERIES: dict[str, Any] = GRAPHQL.query_type.fields if GRAPHQL.query_type else {}
ASKS = {"compileWikiNow", "resetWikiCursor", "bootstrapJournalImport"}
"""What admins ask of the compiler, without an input: tests/schema/mutations/test_compiling.py says who may."""
OF_NO_WIKI = {
    "disconnectWikiProgram", "revokeApiKey", "rotateApiKey", "updateWebhook", "deleteWebhook", "rotateWebhookSecret",
    "redeliverWebhook",
}  # fmt: skip
"""Take an id of no row of a wiki: tests/app/rest/test_onboarding.py, test_audit_http.py and test_webhooks_http.py say
who may."""
FIELDS: dict[str, Any] = GRAPHQL.mutation_type.fields if GRAPHQL.mutation_type else {}
MUTATIONS = {name: field for name, field in FIELDS.items() if name not in ASKS}
ROOTS = (GRAPHQL.query_type, GRAPHQL.subscription_type)  # what is followed has its own tests, of the service
REFUSED = {"NOT_FOUND", "FORBIDDEN"}
TENANTS, STRANGERS = [(2, "alice"), (2, "space")], [(2, "alice"), (1, "eve")]
# Who asks, and whose ids it uses: services and admins have their whole tenant, and no other.
ATTACKS = [
    (caller(1, "alice", Role.READER), STRANGERS),
    (caller(1, "alice", Role.MEMBER), STRANGERS),
    (caller(1, "alice", Role.SERVICE), TENANTS),
    (caller(1, "alice", Role.ADMIN), TENANTS),
]
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def id_fields(fields: dict[str, Any]) -> list[str]:
    return [name for name, field in fields.items() if get_named_type(field.type).name == "ID"]


def with_id(name: str, type_: Any, id: str) -> Any:
    return [id] if str(get_nullable_type(type_)).startswith("[") else id


# -- reads


def test_ids_are_asked_for_at_the_root_alone() -> None:
    """Below it an id argument would need a walk of its own."""
    types = [type_ for type_ in GRAPHQL.type_map.values() if is_object_type(type_) and type_ not in ROOTS]
    found = [f"{type_.name}.{name}" for type_ in types for name, field in type_.fields.items() if id_fields(field.args)]
    assert set(found) == {f"Mutation.{name}" for name in ASKS}


@pytest.mark.parametrize("name", [name for name, field in QUERIES.items() if id_fields(field.args)])
async def test_a_read_with_an_id_of_others_answers_as_with_an_unknown_one(
    walker: Engine, database: Database, world: World, name: str
) -> None:
    field = QUERIES[name]
    for (scope, victims), argument in product(ATTACKS, id_fields(field.args)):
        for victim in victims:
            wiki = Wiki(world, *victim)
            if argument == "tenantId" and wiki.tenant == str(scope.tenant_id):
                continue
            given = wiki.arguments(field)
            if "tenantId" in field.args:
                given["tenantId"] = str(scope.tenant_id)
            unknown = await answer(walker, database, scope, name, given, argument, UNKNOWN)
            for id in wiki.ids(argument):
                found = await answer(walker, database, scope, name, given, argument, id)
                assert found == unknown, (scope.role, argument, id)


NONE_HERE = {"webhookDeliveries"}
"""There are no webhooks here: tests/app/rest/test_webhooks_http.py says who sees their deliveries."""
ASKED = [name for name, field in QUERIES.items() if id_fields(field.args) and name not in NONE_HERE]


@pytest.mark.parametrize("name", ASKED)
async def test_the_same_read_shows_their_owner_something(
    walker: Engine, database: Database, world: World, name: str
) -> None:
    """Otherwise the walk would prove nothing."""
    wiki, scope = Wiki(world, 2, "alice"), caller(2, "alice", Role.ADMIN)
    given = wiki.arguments(QUERIES[name])
    for argument in id_fields(QUERIES[name].args):
        unknown = await answer(walker, database, scope, name, given, argument, UNKNOWN)
        for id in wiki.ids(argument):
            assert await answer(walker, database, scope, name, given, argument, id) != unknown, (argument, id)


async def answer(
    walker: Engine, database: Database, scope: Scope, name: str, given: dict[str, Any], argument: str, id: str
) -> dict[str, Any]:
    """What is shown of an object itself tells whether it was found: what hangs on it is shown in the test below."""
    field = QUERIES[name]
    variables = given | {argument: with_id(argument, field.args[argument].type, id)}
    depth = 0 if "id" in getattr(get_named_type(field.type), "fields", ()) else 1
    document = call("query", name, field, variables, depth)
    return await ask(walker, Recorder(database, scope, 10**9), document, **variables)


@pytest.mark.parametrize("scope", CALLERS, ids=[f"{scope.role.value}-{scope.owner_id.int}" for scope in CALLERS])
async def test_nothing_that_is_shown_belongs_to_others(
    walker: Engine, database: Database, world: World, scope: Scope
) -> None:
    """Whatever hangs on what the caller may read."""
    rows = Rows(world, scope)
    hidden = {
        str(row["id"])
        for name, table in world.tables.items()
        for row in table
        if name != "installation"
        and "id" in row
        and not (row["tenant_id"] == scope.tenant_id and any(map(rows.readable, owners_of(row))))
    }
    own = Wiki(world, 1, "alice")
    for name, field in QUERIES.items():
        given = own.arguments(field) | ({"tenantId": str(scope.tenant_id)} if "tenantId" in field.args else {})
        found = await ask(walker, Recorder(database, scope, 10**9), call("query", name, field, given), **given)
        assert "errors" not in found or codes(found) == {"FORBIDDEN"}, (name, found)
        assert not hidden & set(ID.findall(str(found))), name


def owners_of(row: Row) -> list[UUID]:
    """The wikis that a row is part of. An API key writes in those of its owners, where its id names the author."""
    return list(row["owner_ids"]) if "owner_ids" in row else [row.get("owner_id", row["id"])]


@pytest.mark.parametrize(
    ("scope", "roles"),
    [
        (caller(1, "alice", Role.MEMBER), {"alice": "MEMBER", "space": "READER"}),
        (caller(1, "bot", Role.MEMBER), {"alice": "ADMIN", "bot": "MEMBER", "space": "MEMBER"}),
        (caller(1, "bot", Role.READER), dict.fromkeys(("alice", "bot", "space"), "READER")),
        (caller(1, "new", Role.ADMIN), dict.fromkeys(("alice", "bot", "eve", "new", "space"), "ADMIN")),
    ],
)
async def test_what_a_grant_gives_is_no_more_than_the_credentials_role_allows(
    walker: Engine, database: Database, scope: Scope, roles: dict[str, str]
) -> None:
    found = await ask(walker, Recorder(database, scope), "{ wikiOwners { nodes { slug role } } }")
    assert {owner["slug"]: owner["role"] for owner in found["data"]["wikiOwners"]["nodes"]} == roles


# -- writes


@pytest.fixture(scope="module")
async def look(world_dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(world_dsn)
    yield connection
    await connection.close()


@pytest.fixture(scope="module")
async def untouched(look: asyncpg.Connection) -> list[Any]:
    """What the world is before anything is tried on it, and after whatever was refused."""
    return await state_of_tables(look)


async def state_of_tables(look: asyncpg.Connection) -> list[Any]:
    """Of every table how many rows it has and which transaction wrote the newest: whatever is written changes one."""
    sums = (f"(SELECT (count(*), max(xmin::text::bigint))::text FROM {table.name})" for table in metadata.sorted_tables)
    return list(await look.fetchrow(f"SELECT {', '.join(sums)}"))


def attempts(name: str, own: Wiki, victim: Wiki) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(which id, the other input, an id of the victim's): all is the caller's own but that one id."""
    input = get_named_type(MUTATIONS[name].args["input"].type)
    for argument in id_fields(input.fields):
        if argument != "tenantId" or own.tenant != victim.tenant:
            yield argument, own.input(input), victim.ids(argument)[0]


@pytest.mark.parametrize("name", MUTATIONS)
async def test_a_write_with_an_id_of_others_is_refused_as_with_an_unknown_one(
    walker: Engine, database: Database, world: World, look: asyncpg.Connection, untouched: list[Any], name: str
) -> None:
    own = Wiki(world, 1, "alice")
    for scope, victims in ATTACKS:
        for victim in victims:
            for argument, input, id in attempts(name, own, Wiki(world, *victim)):
                answers = [await write(walker, database, scope, name, input | {argument: one}) for one in (id, UNKNOWN)]
                assert answers[0] == answers[1], (scope.role, argument, id)
                assert codes(answers[0]), (scope.role, argument, answers[0])
                assert codes(answers[0]) <= REFUSED, (scope.role, argument, answers[0])
    assert await state_of_tables(look) == untouched


@pytest.mark.parametrize("name", MUTATIONS)
async def test_who_may_only_read_writes_nothing(
    walker: Engine, database: Database, world: World, look: asyncpg.Connection, untouched: list[Any], name: str
) -> None:
    """A reader at home, and a member where it was granted reading."""
    for role, owner in ((Role.READER, "alice"), (Role.MEMBER, "space")):
        wiki = Wiki(world, 1, owner)
        type_ = get_named_type(MUTATIONS[name].args["input"].type)
        place = {"ownerId": wiki.ids("ownerId")[0]} if "ownerId" in type_.fields else {}
        found = await write(walker, database, caller(1, "alice", role), name, wiki.input(type_) | place)
        assert codes(found) == {"FORBIDDEN"}, (role, found)
    assert await state_of_tables(look) == untouched


async def test_the_same_writes_are_let_through_for_an_admin(dsn: str, walker: Engine) -> None:
    """Otherwise the walk would prove nothing. Each on a page of its own, what destroys comes last."""
    await store(dsn, make_world())
    wiki = Wiki(await read_back(dsn), 1, "alice")
    database = Database(dsn, size=1)
    await database.open()
    try:
        destroying = ("forgetWikiSource", "removeWikiSection", "archiveWikiScope", "deleteWikiPage")
        for number, name in enumerate(sorted(MUTATIONS, key=lambda name: (name in destroying, name))):
            if name in OF_NO_WIKI:
                continue
            input = wiki.input(get_named_type(MUTATIONS[name].args["input"].type), number % (len(wiki.pages) - 1))
            found = await write(walker, database, caller(1, "alice", Role.ADMIN), name, input)
            assert not codes(found) & REFUSED, (name, found)
    finally:
        await database.close()


async def write(walker: Engine, database: Database, scope: Scope, name: str, input: dict[str, Any]) -> dict[str, Any]:
    return await ask(walker, Recorder(database, scope), call("mutation", name, MUTATIONS[name], ["input"]), input=input)


def codes(answer: dict[str, Any]) -> set[str]:
    """Of its errors, and of those in the payload."""
    payloads = [payload for payload in (answer.get("data") or {}).values() if payload]
    inside = [error["code"] for payload in payloads for error in payload.get("userErrors", ())]
    return {error["extensions"]["code"] for error in answer.get("errors", ())} | set(inside)


def test_an_unknown_id_is_nobodys(world: World) -> None:
    assert all(row.get("id") != UUID(UNKNOWN) for table in world.tables.values() for row in table)
