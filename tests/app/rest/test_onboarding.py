"""Tests that admins manage owners, grants and API keys of their tenant over GraphQL, and that no key leaks."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import structlog

from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.api_keys import create_api_key, list_api_keys
from resolvers.auth.owners import OwnerKind, create_owner, list_grants, list_owners
from resolvers.errors import Forbidden
from resolvers.tenants.tenants import create_tenant
from tests.app.service import Service, serving
from tests.wiki import Wiki

ERRORS = "userErrors { code field message }"
OWNER = f"""mutation($input: CreateWikiOwnerInput!) {{ createWikiOwner(input: $input) {{
    owner {{ id kind slug name language }} {ERRORS} }} }}"""
GRANT = f"""mutation($input: GrantWikiAccessInput!) {{ grantWikiAccess(input: $input) {{
    role owner {{ slug }} grantee {{ slug }} {ERRORS} }} }}"""
UNGRANT = f"""mutation($input: RevokeWikiAccessInput!) {{ revokeWikiAccess(input: $input) {{
    role revoked owner {{ slug }} {ERRORS} }} }}"""
SHOWN = "id name role owners { slug } actor state createdAt expiresAt revokedAt"
KEY = f"""mutation($input: CreateApiKeyInput!) {{ createApiKey(input: $input) {{
    key apiKey {{ {SHOWN} }} {ERRORS} }} }}"""
REVOKE = f"""mutation($input: RevokeApiKeyInput!) {{ revokeApiKey(input: $input) {{
    key apiKey {{ id state }} {ERRORS} }} }}"""
KEYS = f"query($first: Int, $after: String) {{ wikiApiKeys(first: $first, after: $after) {{ nodes {{ {SHOWN} }} \
pageInfo {{ endCursor hasNextPage }} totalCount }} }}"
VIEWER = "{ viewer { role owner { slug } actorName } }"


async def mutate(service: Service, token: str, document: str, **given: Any) -> dict[str, Any]:
    """Return the payload of a mutation that has no user errors."""
    answer = await service.ask(document, token, input=given)
    assert "errors" not in answer, answer
    (payload,) = answer["data"].values()
    assert payload.pop("userErrors") == []
    return dict(payload)


async def user_errors(service: Service, token: str, document: str, **given: Any) -> list[tuple[str, list[str]]]:
    (payload,) = (await service.ask(document, token, input=given))["data"].values()
    return [(error["code"], error["field"]) for error in payload["userErrors"]]


async def error_codes(service: Service, token: str, document: str, **given: Any) -> list[str]:
    answer = await service.ask(document, token, **given)
    assert not any((answer["data"] or {}).values())
    return [error["extensions"]["code"] for error in answer["errors"]]


async def test_an_admin_onboards_an_owner_whose_key_works(service: Service, token: str, wiki: Wiki) -> None:
    created = await mutate(service, token, OWNER, kind="AGENT", slug="crawler", name="Crawler", language="de")
    assert created["owner"] | {"id": ""} == {
        "id": "", "kind": "AGENT", "slug": "crawler", "name": "Crawler", "language": "german",
    }  # fmt: skip
    await mutate(service, token, OWNER, kind="SHARED", slug="team")
    ends = (datetime.now(UTC) + timedelta(days=90)).replace(microsecond=0)
    issued = await mutate(
        service, token, KEY, name="nightly", role="MEMBER", owners=["crawler", "team"], expiresAt=ends.isoformat()
    )
    shown = issued["apiKey"]
    assert shown["owners"] == [{"slug": "crawler"}, {"slug": "team"}]
    assert (shown["name"], shown["role"], shown["actor"], shown["state"]) == ("nightly", "MEMBER", "AGENT", "ACTIVE")
    assert datetime.fromisoformat(shown["expiresAt"]) == ends
    viewer = (await service.ask(VIEWER, issued["key"]))["data"]["viewer"]
    assert viewer == {"role": "MEMBER", "owner": {"slug": "crawler"}, "actorName": "nightly"}


async def test_errors_of_owners_keys_and_grants_name_their_field(service: Service, token: str) -> None:
    await mutate(service, token, OWNER, kind="USER", slug="ada")
    assert await user_errors(service, token, OWNER, kind="AGENT", slug="ada") == [("SLUG_TAKEN", ["slug"])]
    assert await user_errors(service, token, OWNER, kind="USER", slug="Not A Slug") == [("BAD_USER_INPUT", ["slug"])]
    assert await user_errors(service, token, OWNER, kind="USER", slug="b", name="") == [("BAD_USER_INPUT", ["name"])]
    assert await user_errors(service, token, OWNER, kind="USER", slug="b", language="klingon") == [
        ("BAD_USER_INPUT", ["language"])
    ]
    key = {"name": "x", "role": "MEMBER", "owners": ["ada"]}
    for wrong, field in (
        ({"owners": []}, "owners"),
        ({"owners": ["ada"] * 101}, "owners"),
        ({"name": ""}, "name"),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt"),
        ({"actor": "COMPILER"}, "actor"),
    ):
        assert await user_errors(service, token, KEY, **key | wrong) == [("BAD_USER_INPUT", [field])]
    for unknown in ("nobody", str(uuid4()), "\0", "x" * 10_000):
        assert await error_codes(service, token, KEY, input=key | {"owners": ["ada", unknown]}) == ["NOT_FOUND"]
    own = {"owner": "ada", "grantee": "ada", "role": "READER"}
    assert await user_errors(service, token, GRANT, **own) == [("BAD_USER_INPUT", ["grantee"])]


async def test_access_is_granted_replaced_and_revoked(service: Service, token: str, wiki: Wiki) -> None:
    tenant_id = wiki.scope.tenant_id
    for slug in ("ada", "team"):
        await mutate(service, token, OWNER, kind="USER", slug=slug)
    for role in ("READER", "ADMIN"):
        granted = await mutate(service, token, GRANT, owner="team", grantee="ada", role=role)
        assert granted == {"role": role, "owner": {"slug": "team"}, "grantee": {"slug": "ada"}}
    (found,) = await list_grants(wiki.database, tenant_id)
    assert (found.owner, found.grantee, found.role) == ("team", "ada", "admin")
    for revoked in (True, False):
        left = await mutate(service, token, UNGRANT, owner="team", grantee="ada")
        assert left == {"role": None, "revoked": revoked, "owner": {"slug": "team"}}
    assert await list_grants(wiki.database, tenant_id) == []


async def test_the_list_of_api_keys_is_paged_and_shows_no_secret(service: Service, token: str, wiki: Wiki) -> None:
    await mutate(service, token, OWNER, kind="USER", slug="ada")
    keys = [await mutate(service, token, KEY, name=f"k{n}", role="READER", owners=["ada"]) for n in range(3)]
    await mutate(service, token, REVOKE, id=keys[1]["apiKey"]["id"])
    answer = await service.post(KEYS, token, {"first": 2})
    first = answer.json()["data"]["wikiApiKeys"]
    assert (first["totalCount"], first["pageInfo"]["hasNextPage"]) == (3, True)
    after = first["pageInfo"]["endCursor"]
    rest = (await service.ask(KEYS, token, first=2, after=after))["data"]["wikiApiKeys"]
    listed = first["nodes"] + rest["nodes"]
    assert [(key["name"], key["state"]) for key in listed] == [("k0", "ACTIVE"), ("k1", "REVOKED"), ("k2", "ACTIVE")]
    assert not any(key["key"].removeprefix("cairn_") in answer.text for key in keys)


async def test_api_keys_are_listed_with_one_statement(statements: list[str], service: Service, token: str) -> None:
    await mutate(service, token, OWNER, kind="USER", slug="ada")
    for n in range(3):
        await mutate(service, token, KEY, name=f"k{n}", role="READER", owners=["ada"])
    await service.ask(KEYS, token)
    statements.clear()
    await service.ask(KEYS, token)
    assert len(statements) == 1


async def test_a_revoked_api_key_is_refused_and_can_be_revoked_again(service: Service, token: str, wiki: Wiki) -> None:
    await mutate(service, token, OWNER, kind="USER", slug="ada")
    issued = await mutate(service, token, KEY, name="k", role="ADMIN", owners=["ada"])
    for _ in range(2):
        revoked = await mutate(service, token, REVOKE, id=issued["apiKey"]["id"])
        assert revoked == {"key": None, "apiKey": {"id": issued["apiKey"]["id"], "state": "REVOKED"}}
    assert (await service.post(VIEWER, issued["key"])).status_code == 401
    assert await error_codes(service, token, REVOKE, input={"id": str(uuid4())}) == ["NOT_FOUND"]


ADMIN_MUTATIONS = [
    (OWNER, {"kind": "USER", "slug": "eve"}),
    (GRANT, {"owner": "ada", "grantee": "team", "role": "READER"}),
    (UNGRANT, {"owner": "ada", "grantee": "team"}),
    (KEY, {"name": "k", "role": "READER", "owners": ["ada"]}),
    (REVOKE, {"id": str(uuid4())}),
]


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
async def test_only_an_admin_may_manage_and_see_owners_and_keys(
    service: Service, token: str, wiki: Wiki, role: Role
) -> None:
    for slug in ("ada", "team"):
        await mutate(service, token, OWNER, kind="USER", slug=slug)
    tenant_id = wiki.scope.tenant_id
    before = await list_owners(wiki.database, tenant_id)
    ada = next(owner for owner in before if owner.slug == "ada")
    for shown in (
        service.token(tenant_id, ada.id, role),
        (await create_api_key(wiki.database, tenant_id, "k", role, [ada.id])).key,
    ):
        for document, given in ADMIN_MUTATIONS:
            assert await error_codes(service, shown, document, input=given) == ["FORBIDDEN"]
        assert await error_codes(service, shown, KEYS) == ["FORBIDDEN"]
    assert await list_owners(wiki.database, tenant_id) == before
    assert await list_grants(wiki.database, tenant_id) == []
    assert len(await list_api_keys(wiki.database, tenant_id)) == 1


@pytest.mark.parametrize("maker", list(Role))
@pytest.mark.parametrize("role", list(Role))
async def test_a_key_has_no_more_rights_than_its_maker(wiki: Wiki, maker: Role, role: Role) -> None:
    rights = {Role.READER: 1, Role.MEMBER: 2, Role.SERVICE: 3, Role.ADMIN: 4}
    creation = create_api_key(wiki.database, wiki.scope.tenant_id, "k", role, [wiki.scope.owner_id], maker=maker)
    if rights[role] > rights[maker]:
        with pytest.raises(Forbidden, match=f"cannot create API keys with the role {role}"):
            await creation
        assert await list_api_keys(wiki.database, wiki.scope.tenant_id) == []
    else:
        assert (await creation).key


@pytest.fixture
async def foreign_admin(wiki: Wiki) -> tuple[Scope, UUID]:
    """Return an admin of another tenant, and the id of an API key of that tenant."""
    tenant = await create_tenant(wiki.database, "rival", "Rival")
    owner = await create_owner(wiki.database, tenant.id, OwnerKind.USER, "eve", "Eve")
    await create_owner(wiki.database, tenant.id, OwnerKind.USER, "adam", "Adam")
    issued = await create_api_key(wiki.database, tenant.id, "theirs", Role.ADMIN, [owner.id])
    return Scope(tenant.id, owner.id, Role.ADMIN, Actor(ActorKind.USER, str(owner.id)), (owner.id,)), issued.id


async def test_owners_and_keys_of_another_tenant_are_not_found(
    service: Service, token: str, wiki: Wiki, foreign_admin: tuple[Scope, UUID]
) -> None:
    theirs, key_id = foreign_admin
    await mutate(service, token, OWNER, kind="USER", slug="ada")
    for eve in ("eve", str(theirs.owner_id)):
        for document, given in (
            (GRANT, {"owner": eve, "grantee": "ada", "role": "READER"}),
            (GRANT, {"owner": "ada", "grantee": eve, "role": "READER"}),
            (UNGRANT, {"owner": eve, "grantee": "ada"}),
            (KEY, {"name": "k", "role": "READER", "owners": [eve]}),
            (KEY, {"name": "k", "role": "READER", "owners": ["ada", eve]}),
            (REVOKE, {"id": str(key_id)}),
        ):
            assert await error_codes(service, token, document, input=given) == ["NOT_FOUND"]
    assert (await service.ask(KEYS, token))["data"]["wikiApiKeys"]["nodes"] == []
    (key,) = await list_api_keys(wiki.database, theirs.tenant_id)
    assert key.state == "active"
    assert await list_grants(wiki.database, theirs.tenant_id) == []
    # The other tenant's slug is free in this tenant.
    await mutate(service, token, OWNER, kind="USER", slug="eve")
    assert len(await list_owners(wiki.database, theirs.tenant_id)) == 2


NESTED = """mutation($input: CreateApiKeyInput!, $owner: CreateWikiOwnerInput!) {
    createWikiOwner(input: $owner) { owner { slug } } ...Making }
fragment Making on Mutation { again: createApiKey(input: $input) { key userErrors { code } } }"""


async def test_a_mutation_that_returns_an_api_key_refuses_an_idempotency_key(
    service: Service, token: str, wiki: Wiki
) -> None:
    await mutate(service, token, OWNER, kind="USER", slug="ada")
    given = {"name": "k", "role": "READER", "owners": ["ada"]}
    for document, variables in (
        (KEY, {"input": given}),
        (NESTED, {"input": given, "owner": {"kind": "USER", "slug": "bea"}}),
    ):
        answer = (await service.post(document, token, variables, **{"idempotency-key": str(uuid4())})).json()
        (error,) = answer["errors"]
        assert error["extensions"]["code"] == "IDEMPOTENCY_KEY_NOT_ALLOWED"
        assert "without Idempotency-Key" in error["message"]
    assert await list_api_keys(wiki.database, wiki.scope.tenant_id) == []
    stored = await wiki.connection.fetch("SELECT answer FROM idempotency_keys")
    assert len(stored) == 1, "only the answer that created an owner is stored"
    assert b"cairn_" not in stored[0]["answer"]


async def test_creating_an_owner_with_an_idempotency_key_is_replayed(service: Service, token: str, wiki: Wiki) -> None:
    headers = {"idempotency-key": "k-1"}
    given = {"input": {"kind": "USER", "slug": "ada"}}
    first, again = [await service.post(OWNER, token, given, **headers) for _ in range(2)]
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    assert first.json()["data"]["createWikiOwner"]["owner"]["slug"] == "ada"


@pytest.fixture
def records() -> Iterator[list[Any]]:
    with structlog.testing.capture_logs() as records:
        yield records


async def all_rows_as_text(wiki: Wiki) -> str:
    """Return every row of every table as text."""
    tables = await wiki.connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    texts = [
        await wiki.connection.fetchval(f'SELECT string_agg(t::text, chr(10)) FROM "{row[0]}" AS t') for row in tables
    ]
    return "\n".join(filter(None, texts))


async def test_an_api_key_appears_in_no_table_and_no_log(
    dsn: str, tmp_path: Path, wiki: Wiki, records: list[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    async with serving(dsn, tmp_path, slow_operation=0.000001, log_level="debug") as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
        await mutate(service, token, OWNER, kind="USER", slug="ada")
        key = (await mutate(service, token, KEY, name="k", role="READER", owners=["ada"]))["key"]
        await service.ask(VIEWER, key)
    secret = key.removeprefix("cairn_")
    assert [record for record in records if record["event"] == "slow operation"]
    output = capfd.readouterr()
    assert "/graphql" in output.err
    assert secret not in output.err + output.out + str(records)
    assert secret not in await all_rows_as_text(wiki)


async def test_owners_are_found_by_one_statement(statements: list[str], wiki: Wiki) -> None:
    """The number of statements does not grow with the number of owners of a key."""
    from resolvers.auth.owners import find_owners

    tenant_id = wiki.scope.tenant_id
    owners = [await create_owner(wiki.database, tenant_id, OwnerKind.USER, f"o{n}", "O") for n in range(4)]
    database = Database(wiki.database.dsn, size=1)
    await database.open()
    try:
        statements.clear()
        found = await find_owners(database, tenant_id, ["o2", owners[0].id, str(owners[3].id), "o2"])
    finally:
        await database.close()
    assert [owner.slug for owner in found] == ["o2", "o0", "o3", "o2"]
    assert len([sql for sql in statements if "owners" in sql]) == 1


BOUNDED = """mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { key apiKey { id scopes networks }
  userErrors { field } } }"""
ROTATE = "mutation ($input: RotateApiKeyInput!) { rotateApiKey(input: $input) { key apiKey { formerUntil } } }"
AUDIT = '{ auditEvents(first: 10, action: "api_key") { nodes { action outcome actorKind subject address times } } }'


async def test_an_api_key_is_restricted_rotated_and_audited(service: Service, token: str, wiki: Wiki) -> None:
    given = {"name": "far", "owners": [str(wiki.scope.owner_id)], "scopes": ["wiki:read"]}

    async def create_key(networks: dict[str, Any]) -> dict[str, Any]:
        answer = await service.ask(BOUNDED, token, input=given | networks)
        return dict(answer["data"]["createApiKey"])

    wrong = await create_key({"networks": ["everywhere"]})
    assert wrong["userErrors"] == [{"field": ["networks"]}]
    far = await create_key({"networks": ["203.0.113.0/24"]})
    assert (far["apiKey"]["scopes"], far["apiKey"]["networks"]) == (["wiki:read"], ["203.0.113.0/24"])
    assert (await service.post("{ viewer { role } }", far["key"])).status_code == 403
    near = await create_key({"networks": ["127.0.0.0/8"]})
    id = near["apiKey"]["id"]
    again = (await service.ask(ROTATE, token, input={"id": id, "overlapSeconds": 60}))["data"]["rotateApiKey"]
    assert again["apiKey"]["formerUntil"] is not None
    for key in (near["key"], again["key"]):
        assert (await service.ask("{ viewer { role } }", key))["data"] == {"viewer": {"role": "READER"}}
    rotated, *_ = (await service.ask(AUDIT, token))["data"]["auditEvents"]["nodes"]
    shown = {"action": "api_key.rotated", "outcome": "DONE", "subject": id, "address": "127.0.0.1", "times": 1}
    assert shown.items() <= rotated.items()
    assert await error_codes(service, again["key"], AUDIT) == ["FORBIDDEN"]
