"""API keys in the reader: admins create them for a wiki, see them once, rotate them, and revoke them."""

import asyncio
import re
from uuid import uuid4

import pytest

from db.scope import Role
from resolvers.transactions import audit
from tests.app.clients.web_client import SAME_ORIGIN, signed_in
from tests.app.service import Service
from tests.waiting import within
from tests.wiki import Wiki

NEW_KEY = re.compile(r'id="made" readonly value="([^"]+)"')
ID = re.compile(r'action="/revoke-key/[^"]+"><input type="hidden" name="id" value="([^"]+)"')
ASK = "{ viewer { role actorName } }"


@pytest.fixture(autouse=True)
def stored_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store the last use of a key at once and not once a minute."""
    monkeypatch.setattr(audit, "STORE_INTERVAL", 0.1)


async def test_a_key_is_created_shown_once_used_and_revoked(service: Service, wiki: Wiki, owner: str) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
    async with signed_in(service, token) as admin:
        path = f"/keys/{owner}"
        assert f'href="{path}"' in (await admin.get(f"/wiki/{owner}")).text
        assert "There are no keys yet" in (await admin.get(path)).text
        created = await admin.post(
            path, data={"name": "nightly <b>", "role": "READER", "days": "30"}, headers=SAME_ORIGIN
        )
        assert created.headers["cache-control"] == "no-store"
        [key] = NEW_KEY.findall(created.text)
        assert (await service.ask(ASK, key))["data"]["viewer"] == {"role": "READER", "actorName": "nightly <b>"}
        shown = (await admin.get(path)).text
        assert key not in shown
        assert "nightly &lt;b&gt;" in shown
        [id] = ID.findall(shown)
        assert (await admin.post(f"/revoke-key/{owner}", data={"id": id}, headers=SAME_ORIGIN)).status_code == 303
        assert "revoked" in (await admin.get(path)).text
        assert (await service.post(ASK, key)).status_code == 401


async def test_a_key_has_scopes_networks_and_a_last_use(service: Service, wiki: Wiki, owner: str) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
    given = {"name": "near", "role": "ADMIN", "days": "", "wiki:read": "1", "networks": "127.0.0.0/8, ::1"}
    async with signed_in(service, token) as admin:
        [near] = NEW_KEY.findall((await admin.post(f"/keys/{owner}", data=given, headers=SAME_ORIGIN)).text)
        shown = (await admin.get(f"/keys/{owner}")).text
        assert ("never used" in shown, "127.0.0.0/8, ::1/128" in shown, "limited to wiki:read" in shown) == (True,) * 3
        assert (await service.ask(ASK, near))["data"]["viewer"]["role"] == "READER"
        far = given | {"name": "far", "networks": "203.0.113.0/24"}
        [far_key] = NEW_KEY.findall((await admin.post(f"/keys/{owner}", data=far, headers=SAME_ORIGIN)).text)
        assert (await service.post(ASK, far_key)).status_code == 403
        wrong = await admin.post(f"/keys/{owner}", data=given | {"networks": "here <b>"}, headers=SAME_ORIGIN)
        assert wrong.status_code == 422
        assert "is not a network" in wrong.text
        assert 'value="here &lt;b&gt;"' in wrong.text
        sql = "SELECT count(*) FROM api_keys WHERE tenant_id = $1 AND used_at IS NOT NULL"
        async with within("no use of the key was noted"):
            while not await wiki.connection.fetchval(sql, wiki.scope.tenant_id):
                await asyncio.sleep(0.05)
        assert "last used" in (await admin.get(f"/keys/{owner}")).text


async def test_the_former_secret_of_a_rotated_key_is_accepted_for_the_overlap(
    service: Service, wiki: Wiki, owner: str
) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
    async with signed_in(service, token) as admin:
        path, rotate = f"/keys/{owner}", f"/rotate-key/{owner}"
        created = await admin.post(path, data={"name": "sync", "role": "READER", "days": ""}, headers=SAME_ORIGIN)
        [first] = NEW_KEY.findall(created.text)
        [id] = ID.findall(created.text)
        rotated = await admin.post(rotate, data={"id": id, "overlap": "86400"}, headers=SAME_ORIGIN)
        assert rotated.headers["cache-control"] == "no-store"
        assert "The previous secret is accepted until" in rotated.text
        [second] = NEW_KEY.findall(rotated.text)
        assert [(await service.post(ASK, key)).status_code for key in (first, second)] == [200, 200]
        [third] = NEW_KEY.findall((await admin.post(rotate, data={"id": id, "overlap": "0"}, headers=SAME_ORIGIN)).text)
        assert [(await service.post(ASK, key)).status_code for key in (first, second, third)] == [401, 401, 200]
        assert (await admin.post(rotate, data={"id": id, "overlap": "5"}, headers=SAME_ORIGIN)).status_code == 422
        unknown = await admin.post(rotate, data={"id": str(uuid4()), "overlap": "0"}, headers=SAME_ORIGIN)
        assert (unknown.status_code, "has ended" in unknown.text) == (404, True)


async def test_an_invalid_key_is_reported_in_the_form(service: Service, wiki: Wiki, owner: str) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
    async with signed_in(service, token) as admin:
        long = await admin.post(
            f"/keys/{owner}", data={"name": "x" * 300, "role": "READER", "days": ""}, headers=SAME_ORIGIN
        )
        assert (long.status_code, 'role="alert"' in long.text) == (422, True)
        wrong = await admin.post(
            f"/keys/{owner}", data={"name": "x", "role": "OWNER", "days": "1"}, headers=SAME_ORIGIN
        )
        assert wrong.status_code == 422


async def test_only_admins_see_and_create_keys(service: Service, wiki: Wiki, owner: str) -> None:
    member = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.MEMBER)
    async with signed_in(service, member) as browser:
        assert "/keys/" not in (await browser.get(f"/wiki/{owner}")).text
        given = {"name": "x", "role": "READER", "days": "30"}
        for answer in (
            await browser.get(f"/keys/{owner}"),
            await browser.post(f"/keys/{owner}", data=given, headers=SAME_ORIGIN),
            await browser.post(f"/rotate-key/{owner}", data={"id": str(uuid4()), "overlap": "0"}, headers=SAME_ORIGIN),
            await browser.post(f"/revoke-key/{owner}", data={"id": "x"}, headers=SAME_ORIGIN),
        ):
            assert answer.status_code in (403, 404, 422)
            assert 'id="made"' not in answer.text


async def test_a_cross_site_request_creates_no_key(service: Service, wiki: Wiki, owner: str) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
    async with signed_in(service, token) as admin:
        given = {"name": "x", "role": "ADMIN", "days": ""}
        sent = await admin.post(f"/keys/{owner}", data=given, headers={"sec-fetch-site": "cross-site"})
        assert sent.status_code == 403
    assert (
        await wiki.connection.fetchval("SELECT count(*) FROM api_keys WHERE tenant_id = $1", wiki.scope.tenant_id) == 0
    )
