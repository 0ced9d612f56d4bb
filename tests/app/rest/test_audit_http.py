"""Tests the audit log, and the scopes, networks and rotation of API keys, over GraphQL and REST."""

from typing import Any
from uuid import uuid4

import pytest

from db.scope import Role
from resolvers.auth.owners import OwnerKind, create_owner
from tests.app.clients.rest_client import RestClient, status_and_code
from tests.app.rest.test_onboarding import KEY, error_codes, mutate, user_errors
from tests.app.service import Service
from tests.wiki import Wiki

EVENTS = """query($action: String, $outcome: AuditOutcome, $first: Int, $after: String) {
    auditEvents(action: $action, outcome: $outcome, first: $first, after: $after) {
        nodes { action outcome actorKind actorId subject address requestId detail times }
        pageInfo { endCursor hasNextPage } } }"""
ROTATE = """mutation($input: RotateApiKeyInput!) { rotateApiKey(input: $input) {
    key apiKey { id state formerUntil usedAt scopes networks } userErrors { code field message } } }"""


@pytest.fixture
async def owner(wiki: Wiki) -> str:
    return (await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, "mara", "Mara")).slug


async def events(service: Service, token: str, **given: Any) -> list[dict[str, Any]]:
    answer = await service.ask(EVENTS, token, **given)
    found: list[dict[str, Any]] = answer["data"]["auditEvents"]["nodes"]
    return found


async def test_only_admins_read_who_created_and_rotated_a_key(
    service: Service, token: str, wiki: Wiki, owner: str
) -> None:
    issued = await mutate(service, token, KEY, name="nightly", role="MEMBER", owners=[owner])
    rotated = await mutate(service, token, ROTATE, id=issued["apiKey"]["id"])
    newest, oldest = await events(service, token, action="api_key")
    assert (newest["action"], oldest["action"]) == ("api_key.rotated", "api_key.created")
    assert newest["subject"] == oldest["subject"] == issued["apiKey"]["id"]
    viewer = (await service.ask("{ viewer { actorKind actorId } }", token))["data"]["viewer"]
    assert (oldest["actorKind"], oldest["actorId"]) == (viewer["actorKind"], viewer["actorId"])
    assert oldest["requestId"] != newest["requestId"]
    assert oldest["detail"]["name"] == "nightly"
    for secret in (issued["key"], rotated["key"]):
        assert secret not in str([newest, oldest])
    for role in (Role.READER, Role.MEMBER, Role.SERVICE):
        other = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, role)
        assert await error_codes(service, other, EVENTS) == ["FORBIDDEN"]
    assert await events(service, service.token(uuid4(), uuid4(), Role.ADMIN)) == []


async def test_the_audit_log_is_paged_newest_first(service: Service, token: str, owner: str) -> None:
    for name in "abc":
        await mutate(service, token, KEY, name=name, role="READER", owners=[owner])
    page = (await service.ask(EVENTS, token, action="api_key.created", first=2))["data"]["auditEvents"]
    assert [event["detail"]["name"] for event in page["nodes"]] == ["c", "b"]
    rest = await events(service, token, action="api_key.created", first=2, after=page["pageInfo"]["endCursor"])
    assert [event["detail"]["name"] for event in rest] == ["a"]


async def test_rest_lists_and_filters_audit_events(service: Service, token: str, wiki: Wiki, owner: str) -> None:
    await mutate(service, token, KEY, name="nightly", role="READER", owners=[owner])
    rest = RestClient(service.http, token)
    answer = await rest.get("/audit-events?action=api_key&outcome=done")
    assert answer.status_code == 200, answer.text
    (event,) = answer.json()["items"]
    assert (event["action"], event["outcome"], event["actor_kind"]) == ("api_key.created", "done", "user")
    assert (await rest.get("/audit-events?since=2100-01-01T00:00:00Z")).json()["items"] == []
    assert status_and_code(await rest.get("/audit-events?since=yesterday"))[0] == 422
    reader = RestClient(service.http, service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER))
    assert status_and_code(await reader.get("/audit-events")) == (403, "FORBIDDEN")


async def test_networks_and_scopes_restrict_an_api_key(service: Service, token: str, owner: str) -> None:
    elsewhere = await mutate(
        service, token, KEY, name="office", role="READER", owners=[owner], networks=["203.0.113.0/24"]
    )
    answer = await service.post("{ viewer { role } }", elsewhere["key"])
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (403, "FORBIDDEN")
    here = await mutate(
        service, token, KEY, name="here", role="ADMIN", owners=[owner], scopes=["wiki:read"], networks=["127.0.0.1"]
    )
    assert (await service.ask("{ viewer { role } }", here["key"]))["data"]["viewer"]["role"] == "READER"
    assert await error_codes(service, here["key"], EVENTS) == ["FORBIDDEN"]
    assert await error_codes(
        service, here["key"], KEY, input={"name": "more", "role": "READER", "owners": [owner]}
    ) == ["FORBIDDEN"]  # fmt: skip
    assert await user_errors(service, token, KEY, name="x", owners=[owner]) == [("BAD_USER_INPUT", ["role"])]


async def test_both_secrets_of_a_rotated_key_are_accepted_until_the_overlap_ends(
    service: Service, token: str, owner: str
) -> None:
    issued = await mutate(service, token, KEY, name="nightly", role="MEMBER", owners=[owner])
    rotated = await mutate(service, token, ROTATE, id=issued["apiKey"]["id"])
    assert rotated["apiKey"]["formerUntil"] is not None
    for key in (issued["key"], rotated["key"]):
        assert (await service.post("{ viewer { role } }", key)).status_code == 200
    await mutate(service, token, ROTATE, id=issued["apiKey"]["id"], overlapSeconds=0)
    for key in (issued["key"], rotated["key"]):
        assert (await service.post("{ viewer { role } }", key)).status_code == 401
    assert await user_errors(service, token, ROTATE, id=issued["apiKey"]["id"], overlapSeconds=-1) == [
        ("BAD_USER_INPUT", ["overlapSeconds"])
    ]  # fmt: skip
