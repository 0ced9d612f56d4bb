"""Tests webhooks over GraphQL and /api/admin: permissions, secrets, errors, and deliveries by the service."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from db.scope import Role
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.app.rest.test_admin_http import TOKEN, Operator
from tests.app.service import Service, serving
from tests.resolvers.webhooks.receiver import run_webhook_receiver
from tests.wiki import Wiki

ERRORS = "userErrors { code field }"
SHOWN = "id url owners { slug } kinds types ceiling state createdAt failingSince disabledAt disabledReason formerUntil"
CREATE = f"""mutation($input: CreateWebhookInput!) {{ createWebhook(input: $input) {{
    secret webhook {{ {SHOWN} }} {ERRORS} }} }}"""
UPDATE = f"""mutation($input: UpdateWebhookInput!) {{ updateWebhook(input: $input) {{
    secret webhook {{ {SHOWN} }} {ERRORS} }} }}"""
ROTATE = f"""mutation($input: RotateWebhookSecretInput!) {{ rotateWebhookSecret(input: $input) {{
    secret webhook {{ id formerUntil }} {ERRORS} }} }}"""
DELETE = f"mutation($input: DeleteWebhookInput!) {{ deleteWebhook(input: $input) {{ deletedId {ERRORS} }} }}"
REDELIVER = f"mutation($input: RedeliverWebhookInput!) {{ redeliverWebhook(input: $input) {{ redelivered {ERRORS} }} }}"
LIST = f"{{ webhooks(first: 10) {{ totalCount nodes {{ {SHOWN} }} }} }}"
DELIVERIES = """query($id: ID!, $status: WebhookDeliveryStatus) {
    webhookDeliveries(webhookId: $id, status: $status, first: 10) { totalCount nodes {
        id owner { slug } event kind proposalId pageId pageType slug version happenedAt status attempts
        attemptedAt finishedAt responseStatus error } } }"""
URL = "https://app.example.org/hooks"


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, tmp_path, admin_token=TOKEN, worker=True, webhook_networks="127.0.0.0/8") as service:
        yield service


async def mutate(service: Service, token: str, document: str, **given: Any) -> dict[str, Any]:
    """Return the payload of a mutation that has no user errors."""
    answer = await service.ask(document, token, input=given)
    assert "errors" not in answer, answer
    (payload,) = answer["data"].values()
    assert payload.pop("userErrors") == []
    return dict(payload)


async def delivered(service: Service, token: str, webhook_id: str, number: int) -> list[dict[str, Any]]:
    """Wait until the webhook has that number of successful deliveries, and return them."""
    async with asyncio.timeout(60):
        while True:
            answer = await service.ask(DELIVERIES, token, id=webhook_id, status="DELIVERED")
            if answer["data"]["webhookDeliveries"]["totalCount"] == number:
                return list(answer["data"]["webhookDeliveries"]["nodes"])
            await asyncio.sleep(0.1)


async def test_a_webhook_of_an_admin_is_delivered_by_the_worker(service: Service, token: str, wiki: Wiki) -> None:
    with run_webhook_receiver() as receiver:
        created = await mutate(service, token, CREATE, url=receiver.url, kinds=["created"], types=["topic"])
        receiver.secret = created["secret"]
        webhook = created["webhook"]
        assert (webhook["url"], webhook["kinds"], webhook["types"]) == (receiver.url, ["created"], ["topic"])
        assert (webhook["ceiling"], webhook["state"], webhook["owners"]) == ("INTERNAL", "ACTIVE", [])
        page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))).page_id
        await create_page(wiki.database, wiki.scope, PageDraft("entity", "Mara"))
        (delivery,) = await delivered(service, token, webhook["id"], 1)
        assert (delivery["kind"], delivery["pageType"], delivery["slug"]) == ("CREATED", "TOPIC", "austin")
        assert (delivery["event"], delivery["proposalId"]) == ("page.created", None)
        assert (delivery["pageId"], delivery["attempts"], delivery["responseStatus"]) == (str(page_id), 1, 204)
        assert [(received["id"], received["is_signed"]) for received in receiver.received] == [(delivery["id"], True)]
        again = await mutate(service, token, REDELIVER, id=webhook["id"], deliveryId=delivery["id"])
        assert again == {"redelivered": 1}
        await delivered(service, token, webhook["id"], 1)
        async with asyncio.timeout(60):
            while len(receiver.received) < 2:
                await asyncio.sleep(0.05)
        assert receiver.received[1]["id"] == delivery["id"]
    listed = (await service.ask(LIST, token))["data"]["webhooks"]
    assert listed == {"totalCount": 1, "nodes": [webhook]}
    assert created["secret"] not in str(listed)


PROPOSE = """mutation($input: ProposeWikiChangeInput!) { proposeWikiChange(input: $input) {
    proposal { id } userErrors { code field } } }"""
DECLINE = """mutation($input: DeclineWikiProposalInput!) { declineWikiProposal(input: $input) {
    proposal { id } userErrors { code field } } }"""


async def test_proposal_events_are_delivered_and_listed_by_graphql_and_rest(
    service: Service, token: str, wiki: Wiki
) -> None:
    """The field `kind`, which older clients read, stays created or updated."""
    kinds = ["proposal.created", "proposal.declined"]
    operator, tenant = Operator(service), str(wiki.scope.tenant_id)
    with run_webhook_receiver() as receiver:
        issued = await mutate(service, token, CREATE, url=receiver.url, kinds=kinds)
        receiver.secret, id = issued["secret"], issued["webhook"]["id"]
        assert issued["webhook"]["kinds"] == kinds
        page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin", body="Hot."))).page_id
        edit = {"pageId": str(page_id), "oldText": "Hot.", "newText": "Cold."}
        proposal = (await mutate(service, token, PROPOSE, why="It snowed.", edit=edit))["proposal"]["id"]
        await mutate(service, token, DECLINE, proposalId=proposal, reason="It did not.")
        declined, created = await delivered(service, token, id, 2)
        assert [(delivery["event"], delivery["kind"]) for delivery in (created, declined)] == [
            ("proposal.created", "CREATED"),
            ("proposal.declined", "UPDATED"),
        ]
        assert {delivery["proposalId"] for delivery in (created, declined)} == {proposal}
        assert (created["pageId"], created["pageType"], created["slug"]) == (str(page_id), "TOPIC", "austin")
        assert [body["type"] for body in receiver.bodies()] == kinds
    path = f"/tenants/{tenant}/webhooks"
    (listed,) = (await operator.get(path))["items"]
    assert listed["kinds"] == kinds
    shown = (await operator.get(f"{path}/{id}/deliveries"))["items"]
    assert [(delivery["event"], delivery["kind"], delivery["proposal_id"]) for delivery in shown] == [
        ("proposal.declined", "updated", proposal),
        ("proposal.created", "created", proposal),
    ]
    other = await operator.make(path, url=URL, kinds=["proposal.expired", "created"])
    assert (await operator.ask("DELETE", f"{path}/{other['id']}")).status_code == 204


async def test_a_webhook_is_changed_rotated_and_deleted(service: Service, token: str, wiki: Wiki) -> None:
    slug = await wiki.connection.fetchval("SELECT slug FROM owners WHERE id = $1", wiki.scope.owner_id)
    created = await mutate(service, token, CREATE, url=URL, owners=[slug], ceiling="SECRET")
    id = created["webhook"]["id"]
    assert created["webhook"]["owners"] == [{"slug": slug}]
    changed = (await mutate(service, token, UPDATE, id=id, owners=[], enabled=False))["webhook"]
    assert (changed["owners"], changed["state"], changed["ceiling"]) == ([], "DISABLED", "SECRET")
    answer = await service.ask(REDELIVER, token, input={"id": id})
    assert answer["data"]["redeliverWebhook"]["userErrors"] == [{"code": "BAD_USER_INPUT", "field": ["id"]}]
    changed = (await mutate(service, token, UPDATE, id=id, enabled=True, url=URL + "/2"))["webhook"]
    assert (changed["state"], changed["url"]) == ("ACTIVE", URL + "/2")
    rotated = await mutate(service, token, ROTATE, id=id, overlapSeconds=60)
    assert rotated["secret"] not in (None, created["secret"])
    assert rotated["webhook"]["formerUntil"] is not None
    assert await mutate(service, token, DELETE, id=id) == {"deletedId": id}
    assert (await service.ask(LIST, token))["data"]["webhooks"]["nodes"] == []


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": URL, "kinds": ["sold"]}, "kinds"),
        ({"url": URL, "types": ["car"]}, "types"),
        ({"url": URL, "owners": ["o"] * 101}, "owners"),
    ],
)
async def test_each_error_names_its_field(service: Service, token: str, given: dict[str, Any], field: str) -> None:
    (payload,) = (await service.ask(CREATE, token, input=given))["data"].values()
    assert payload["userErrors"] == [{"code": "BAD_USER_INPUT", "field": [field]}]
    assert payload["secret"] is payload["webhook"] is None


@pytest.mark.parametrize("role", [Role.READER, Role.MEMBER, Role.SERVICE])
async def test_only_admins_manage_webhooks(service: Service, token: str, wiki: Wiki, role: Role) -> None:
    id = (await mutate(service, token, CREATE, url=URL))["webhook"]["id"]
    other = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, role)
    operations = [
        (CREATE, {"input": {"url": URL}}),
        (UPDATE, {"input": {"id": id, "enabled": False}}),
        (ROTATE, {"input": {"id": id}}),
        (DELETE, {"input": {"id": id}}),
        (REDELIVER, {"input": {"id": id}}),
        (LIST, {}),
        (DELIVERIES, {"id": id}),
    ]
    for document, given in operations:
        answer = await service.ask(document, other, **given)
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN"]
        assert not any((answer["data"] or {}).values())


async def test_a_webhook_of_another_tenant_is_unknown(service: Service, token: str, wiki: Wiki) -> None:
    operator = Operator(service)
    await operator.make("/tenants", slug="beta")
    theirs = (await operator.make("/tenants/beta/webhooks", url=URL))["id"]
    for id in (theirs, str(uuid4())):
        for document in (UPDATE, ROTATE, DELETE, REDELIVER):
            answer = await service.ask(document, token, input={"id": id})
            assert [error["extensions"]["code"] for error in answer["errors"]] == ["NOT_FOUND"]
        assert (await service.ask(DELIVERIES, token, id=id))["data"]["webhookDeliveries"]["nodes"] == []
    assert (await service.ask(LIST, token))["data"]["webhooks"]["nodes"] == []


async def test_creating_a_webhook_refuses_an_idempotency_key(service: Service, token: str) -> None:
    headers = {"authorization": f"Bearer {token}", "idempotency-key": "once"}
    sent = {"query": CREATE, "variables": {"input": {"url": URL}}}
    answer = (await service.http.post("/graphql", headers=headers, json=sent)).json()
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["IDEMPOTENCY_KEY_NOT_ALLOWED"]
    assert (await service.ask(LIST, token))["data"]["webhooks"]["nodes"] == []


async def test_operators_administer_webhooks_over_rest(service: Service, wiki: Wiki) -> None:
    operator, tenant = Operator(service), str(wiki.scope.tenant_id)
    with run_webhook_receiver() as receiver:
        owner = str(wiki.scope.owner_id)
        issued = await operator.make(f"/tenants/{tenant}/webhooks", url=receiver.url, owners=[owner], types=["topic"])
        receiver.secret = issued["secret"]
        path = f"/tenants/{tenant}/webhooks/{issued['id']}"
        (listed,) = (await operator.get(f"/tenants/{tenant}/webhooks"))["items"]
        assert (listed["url"], listed["types"], listed["state"]) == (receiver.url, ["topic"], "active")
        await create_page(wiki.database, wiki.scope, PageDraft("topic", "Austin"))
        async with asyncio.timeout(60):
            while not (await operator.get(f"{path}/deliveries?status=delivered"))["items"]:
                await asyncio.sleep(0.1)
        assert [received["is_signed"] for received in receiver.received] == [True]
        again = await operator.ask("POST", f"{path}/redeliver", json={})
        assert again.json() == {"redelivered": 0}
    rotated = await operator.ask("POST", f"{path}/rotate", json={"overlap_seconds": 0})
    assert rotated.json()["secret"] != issued["secret"]
    changed = await operator.ask("PATCH", path, json={"enabled": False, "kinds": ["created"]})
    assert (changed.json()["state"], changed.json()["kinds"]) == ("disabled", ["created"])
    assert (await operator.ask("POST", f"{path}/redeliver", json={})).status_code == 422
    assert (await operator.ask("POST", f"/tenants/{tenant}/webhooks", json={"url": "nowhere"})).status_code == 422
    assert (await operator.ask("DELETE", path)).status_code == 204
    assert (await operator.ask("DELETE", path)).status_code == 404
    assert (await operator.ask("GET", f"{path}/deliveries")).status_code == 404
