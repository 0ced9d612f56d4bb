"""Every field of the contract, called with ids of other wikis, returns and changes nothing."""

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
from tests.schema.executing import RecordingContext, execute_document
from tests.schema.minimal_calls import UNKNOWN, Wiki, minimal_call
from tests.schema.reference.rows import Rows
from tests.schema.world import CALLERS, Row, World, caller_scope, make_world, read_back, store

QUERIES: dict[str, Any] = GRAPHQL.query_type.fields if GRAPHQL.query_type else {}
COMPILER_MUTATIONS = {"compileWikiNow", "resetWikiCursor", "bootstrapJournalImport"}
"""Mutations for admins without an input; tests/schema/mutations/test_compiling.py checks who may call them."""
OF_NO_WIKI = {
    "disconnectWikiProgram", "revokeApiKey", "rotateApiKey", "updateWebhook", "deleteWebhook", "rotateWebhookSecret",
    "redeliverWebhook",
}  # fmt: skip
"""Mutations whose ids name no row of a wiki; tests/app/rest/test_onboarding.py, test_audit_http.py and
test_webhooks_http.py check who may call them."""
FIELDS: dict[str, Any] = GRAPHQL.mutation_type.fields if GRAPHQL.mutation_type else {}
MUTATIONS = {name: field for name, field in FIELDS.items() if name not in COMPILER_MUTATIONS}
ROOTS = (GRAPHQL.query_type, GRAPHQL.subscription_type)  # what is followed has its own tests, of the service
REFUSED = {"NOT_FOUND", "FORBIDDEN"}
TENANTS, STRANGERS = [(2, "alice"), (2, "space")], [(2, "alice"), (1, "eve")]
# Who asks, and whose ids it uses: services and admins have their whole tenant, and no other.
ATTACKS = [
    (caller_scope(1, "alice", Role.READER), STRANGERS),
    (caller_scope(1, "alice", Role.MEMBER), STRANGERS),
    (caller_scope(1, "alice", Role.SERVICE), TENANTS),
    (caller_scope(1, "alice", Role.ADMIN), TENANTS),
]
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def id_fields(fields: dict[str, Any]) -> list[str]:
    return [name for name, field in fields.items() if get_named_type(field.type).name == "ID"]


def with_id(name: str, type_: Any, id: str) -> Any:
    return [id] if str(get_nullable_type(type_)).startswith("[") else id


# -- reads


def test_only_root_fields_take_id_arguments() -> None:
    """An id argument of a nested field would need its own isolation test."""
    types = [type_ for type_ in GRAPHQL.type_map.values() if is_object_type(type_) and type_ not in ROOTS]
    found = [f"{type_.name}.{name}" for type_ in types for name, field in type_.fields.items() if id_fields(field.args)]
    assert set(found) == {f"Mutation.{name}" for name in COMPILER_MUTATIONS}


@pytest.mark.parametrize("name", [name for name, field in QUERIES.items() if id_fields(field.args)])
async def test_reads_with_a_foreign_id_answer_as_with_an_unknown_id(
    walk_engine: Engine, database: Database, world: World, name: str
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
            unknown = await answer(walk_engine, database, scope, name, given, argument, UNKNOWN)
            for id in wiki.ids(argument):
                found = await answer(walk_engine, database, scope, name, given, argument, id)
                assert found == unknown, (scope.role, argument, id)


NONE_HERE = {"webhookDeliveries"}
"""Fields without rows here; tests/app/rest/test_webhooks_http.py checks who sees deliveries of webhooks."""
READS_WITH_IDS = [name for name, field in QUERIES.items() if id_fields(field.args) and name not in NONE_HERE]


@pytest.mark.parametrize("name", READS_WITH_IDS)
async def test_reads_with_an_own_id_answer_other_than_with_an_unknown_id(
    walk_engine: Engine, database: Database, world: World, name: str
) -> None:
    """Otherwise equal answers for foreign and unknown ids would prove nothing."""
    wiki, scope = Wiki(world, 2, "alice"), caller_scope(2, "alice", Role.ADMIN)
    given = wiki.arguments(QUERIES[name])
    for argument in id_fields(QUERIES[name].args):
        unknown = await answer(walk_engine, database, scope, name, given, argument, UNKNOWN)
        for id in wiki.ids(argument):
            assert await answer(walk_engine, database, scope, name, given, argument, id) != unknown, (argument, id)


async def answer(
    walk_engine: Engine, database: Database, scope: Scope, name: str, given: dict[str, Any], argument: str, id: str
) -> dict[str, Any]:
    """Return the response with the fields of the object itself; the test below checks nested objects."""
    field = QUERIES[name]
    variables = given | {argument: with_id(argument, field.args[argument].type, id)}
    depth = 0 if "id" in getattr(get_named_type(field.type), "fields", ()) else 1
    document = minimal_call("query", name, field, variables, depth)
    return await execute_document(walk_engine, RecordingContext(database, scope, 10**9), document, **variables)


@pytest.mark.parametrize("scope", CALLERS, ids=[f"{scope.role.value}-{scope.owner_id.int}" for scope in CALLERS])
async def test_reads_contain_no_id_of_an_unreadable_wiki(
    walk_engine: Engine, database: Database, world: World, scope: Scope
) -> None:
    """The selections include every nested object of the rows that the caller may read."""
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
        found = await execute_document(
            walk_engine, RecordingContext(database, scope, 10**9), minimal_call("query", name, field, given), **given
        )
        assert "errors" not in found or codes(found) == {"FORBIDDEN"}, (name, found)
        assert not hidden & set(ID.findall(str(found))), name


def owners_of(row: Row) -> list[UUID]:
    """Return the wikis of a row. An API key belongs to the wikis of its owners, where its id names the author."""
    return list(row["owner_ids"]) if "owner_ids" in row else [row.get("owner_id", row["id"])]


@pytest.mark.parametrize(
    ("scope", "roles"),
    [
        (caller_scope(1, "alice", Role.MEMBER), {"alice": "MEMBER", "space": "READER"}),
        (caller_scope(1, "bot", Role.MEMBER), {"alice": "ADMIN", "bot": "MEMBER", "space": "MEMBER"}),
        (caller_scope(1, "bot", Role.READER), dict.fromkeys(("alice", "bot", "space"), "READER")),
        (caller_scope(1, "new", Role.ADMIN), dict.fromkeys(("alice", "bot", "eve", "new", "space"), "ADMIN")),
    ],
)
async def test_granted_roles_are_capped_by_the_role_of_the_credential(
    walk_engine: Engine, database: Database, scope: Scope, roles: dict[str, str]
) -> None:
    found = await execute_document(
        walk_engine, RecordingContext(database, scope), "{ wikiOwners { nodes { slug role } } }"
    )
    assert {owner["slug"]: owner["role"] for owner in found["data"]["wikiOwners"]["nodes"]} == roles


# -- writes


@pytest.fixture(scope="module")
async def connection(world_dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(world_dsn)
    yield connection
    await connection.close()


@pytest.fixture(scope="module")
async def untouched(connection: asyncpg.Connection) -> list[Any]:
    """The state of the tables before any write, and after every refused write."""
    return await state_of_tables(connection)


async def state_of_tables(connection: asyncpg.Connection) -> list[Any]:
    """Return the row count and the newest transaction id of every table, of which any write changes one."""
    sums = (f"(SELECT (count(*), max(xmin::text::bigint))::text FROM {table.name})" for table in metadata.sorted_tables)
    return list(await connection.fetchrow(f"SELECT {', '.join(sums)}"))


def attempts(name: str, own: Wiki, victim: Wiki) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield each id argument with an input of the caller's own and an id of the victim for that argument."""
    input = get_named_type(MUTATIONS[name].args["input"].type)
    for argument in id_fields(input.fields):
        if argument != "tenantId" or own.tenant != victim.tenant:
            yield argument, own.input(input), victim.ids(argument)[0]


@pytest.mark.parametrize("name", MUTATIONS)
async def test_writes_with_a_foreign_id_are_refused_as_with_an_unknown_id(
    walk_engine: Engine,
    database: Database,
    world: World,
    connection: asyncpg.Connection,
    untouched: list[Any],
    name: str,
) -> None:
    own = Wiki(world, 1, "alice")
    for scope, victims in ATTACKS:
        for victim in victims:
            for argument, input, id in attempts(name, own, Wiki(world, *victim)):
                answers = [
                    await write(walk_engine, database, scope, name, input | {argument: value})
                    for value in (id, UNKNOWN)
                ]
                assert answers[0] == answers[1], (scope.role, argument, id)
                assert codes(answers[0]), (scope.role, argument, answers[0])
                assert codes(answers[0]) <= REFUSED, (scope.role, argument, answers[0])
    assert await state_of_tables(connection) == untouched


@pytest.mark.parametrize("name", MUTATIONS)
async def test_readers_cannot_write(
    walk_engine: Engine,
    database: Database,
    world: World,
    connection: asyncpg.Connection,
    untouched: list[Any],
    name: str,
) -> None:
    """The callers are a reader of its own wiki and a member with a reading grant in another wiki."""
    for role, owner in ((Role.READER, "alice"), (Role.MEMBER, "space")):
        wiki = Wiki(world, 1, owner)
        type_ = get_named_type(MUTATIONS[name].args["input"].type)
        place = {"ownerId": wiki.ids("ownerId")[0]} if "ownerId" in type_.fields else {}
        found = await write(walk_engine, database, caller_scope(1, "alice", role), name, wiki.input(type_) | place)
        assert codes(found) == {"FORBIDDEN"}, (role, found)
    assert await state_of_tables(connection) == untouched


async def test_admins_may_do_every_write_in_their_wiki(dsn: str, walk_engine: Engine) -> None:
    """Otherwise the refusals would prove nothing. Each write has its own page, and destructive ones come last."""
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
            found = await write(walk_engine, database, caller_scope(1, "alice", Role.ADMIN), name, input)
            assert not codes(found) & REFUSED, (name, found)
    finally:
        await database.close()


async def write(
    walk_engine: Engine, database: Database, scope: Scope, name: str, input: dict[str, Any]
) -> dict[str, Any]:
    return await execute_document(
        walk_engine,
        RecordingContext(database, scope),
        minimal_call("mutation", name, MUTATIONS[name], ["input"]),
        input=input,
    )


def codes(answer: dict[str, Any]) -> set[str]:
    """Return the codes of the errors and of the user errors in the payloads."""
    payloads = [payload for payload in (answer.get("data") or {}).values() if payload]
    inside = [error["code"] for payload in payloads for error in payload.get("userErrors", ())]
    return {error["extensions"]["code"] for error in answer.get("errors", ())} | set(inside)


def test_the_unknown_id_belongs_to_no_row(world: World) -> None:
    assert all(row.get("id") != UUID(UNKNOWN) for table in world.tables.values() for row in table)
