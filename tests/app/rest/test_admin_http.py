"""Tests /api/admin: only operators create tenants, owners, keys and tokens, and no secret is stored."""

import asyncio
import json
import os
import re
import subprocess
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pydantic import TypeAdapter, ValidationError

from app.rest.admin import models as admin_models
from app.rest.admin import webhooks as admin_webhooks
from app.rest.admin.application import make_application
from app.rest.admin.paths import PATH
from app.rest.models import Problem
from app.settings import Settings
from db.scope import Role
from resolvers.auth.api_keys import create_api_key, list_api_keys
from resolvers.tenants.tenants import find_tenant
from tests.app.clients.rest_client import check_fields, status_and_code
from tests.app.rest.test_onboarding import VIEWER, all_rows_as_text
from tests.app.service import Service, serving
from tests.wiki import Wiki

ROOT = Path(__file__).parents[3]
TOKEN = "the operators' token of the tests, xx".replace(" ", "-")


@cache
def contract() -> dict[str, Any]:
    """Return the committed contract: building it would block the event loop of the tests that use it."""
    document: dict[str, Any] = json.loads((ROOT / "schema" / "admin-openapi.json").read_text())
    return document


class Operator:
    """A client of /api/admin that compares every response with the contract."""

    def __init__(self, service: Service, token: str | None = TOKEN) -> None:
        self.service, self.token = service, token

    async def ask(self, method: str, path: str, headers: dict[str, str] | None = None, **given: Any) -> httpx.Response:
        shown = {"authorization": f"Bearer {self.token}"} if self.token else {}
        answer = await self.service.http.request(method, PATH + path, headers=shown | (headers or {}), **given)
        operation = next(
            methods[method.lower()]
            for known, methods in contract()["paths"].items()
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", known), path.partition("?")[0])
        )
        documented = operation["responses"][str(answer.status_code)]
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            TypeAdapter(Problem).validate_json(answer.content)
        elif answer.status_code != 204:
            shape = documented["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            check_fields(getattr(admin_models, shape, None) or getattr(admin_webhooks, shape), answer.json())
        if method != "GET":
            assert answer.status_code >= 400 or answer.headers["cache-control"] == "no-store"
        return answer

    async def get(self, path: str) -> Any:
        answer = await self.ask("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def make(self, path: str, **given: Any) -> Any:
        answer = await self.ask("POST", path, json=given)
        assert answer.status_code == 201, answer.text
        return answer.json()


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, tmp_path, admin_token=TOKEN) as service:
        yield service


@pytest.fixture
async def operator(service: Service) -> Operator:
    operator = Operator(service)
    await operator.make("/tenants", slug="acme", name="Acme Ltd")
    await operator.make("/tenants/acme/owners", kind="agent", slug="ada")
    return operator


def test_the_committed_contract_equals_the_served_one() -> None:
    assert contract() == make_application().openapi()
    for methods in contract()["paths"].values():
        assert all(operation["security"] == [{"bearer": []}] for operation in methods.values())


async def test_an_operator_issues_and_revokes_a_key_for_a_new_owner(operator: Operator) -> None:
    assert (await operator.get("/tenants"))["items"][0]["name"] == "Acme Ltd"
    (ada,) = (await operator.get("/tenants/acme/owners"))["items"]
    assert (ada["slug"], ada["name"], ada["kind"], ada["language"]) == ("ada", "ada", "agent", "english")
    issued = await operator.make("/tenants/acme/keys", name="sync", role="service", owners=["ada"])
    answer = (await operator.service.ask(VIEWER, issued["key"]))["data"]["viewer"]
    assert answer == {"role": "SERVICE", "owner": {"slug": "ada"}, "actorName": "sync"}
    (key,) = (await operator.get("/tenants/acme/keys"))["items"]
    assert (key["id"], key["actor"], key["owners"], key["state"]) == (issued["id"], "service", ["ada"], "active")
    for _ in range(2):
        assert (await operator.ask("DELETE", f"/tenants/acme/keys/{issued['id']}")).status_code == 204
    assert (await operator.service.post(VIEWER, issued["key"])).status_code == 401
    assert (await operator.get("/tenants/acme/keys"))["items"][0]["state"] == "revoked"


async def test_a_token_has_the_given_owner_role_and_lifetime(operator: Operator) -> None:
    issued = await operator.make("/tenants/acme/tokens", owner="ada", role="reader", ttl=900)
    assert (issued["role"], issued["expires_in"]) == ("reader", 900)
    viewer = "{ viewer { role actorKind owner { slug } tenant { slug } } }"
    assert (await operator.service.ask(viewer, issued["token"]))["data"]["viewer"] == {
        "role": "READER", "actorKind": "AGENT", "owner": {"slug": "ada"}, "tenant": {"slug": "acme"},
    }  # fmt: skip
    for ttl in (0, 86_401, "900", 1.5):
        answer = await operator.ask("POST", "/tenants/acme/tokens", json={"owner": "ada", "ttl": ttl})
        assert (status_and_code(answer), answer.json()["field"]) == ((422, "BAD_USER_INPUT"), "ttl")


async def test_no_token_is_signed_if_another_issuer_signs_them(dsn: str, tmp_path: Path) -> None:
    jwks = {"jwks_url": "http://127.0.0.1:9/jwks.json", "jwt_secret": None}
    async with serving(dsn, tmp_path, admin_token=TOKEN, **jwks) as service:
        operator = Operator(service)
        await operator.make("/tenants", slug="acme")
        await operator.make("/tenants/acme/owners", kind="user", slug="ada")
        answer = await operator.ask("POST", "/tenants/acme/tokens", json={"owner": "ada"})
    assert status_and_code(answer) == (403, "FORBIDDEN")
    assert "CAIRN_JWT_SECRET" in answer.json()["detail"]


async def test_the_admin_api_is_off_unless_a_token_is_set(dsn: str, tmp_path: Path) -> None:
    async with serving(dsn, tmp_path) as service:
        for path in ("/tenants", "/openapi.json"):
            answer = await service.http.get(PATH + path, headers={"authorization": f"Bearer {TOKEN}"})
            assert answer.status_code == 404


@pytest.mark.parametrize("token", ["", "x" * 31, "with a space in it, and long enough", "ä" * 40])
def test_a_weak_admin_token_is_refused_at_startup(token: str) -> None:
    with pytest.raises(ValidationError, match="at least 32 visible ASCII characters"):
        Settings.model_validate({"admin_token": token})


async def test_the_admin_api_requires_the_operators_token(operator: Operator, wiki: Wiki) -> None:
    service = operator.service
    key = await create_api_key(wiki.database, wiki.scope.tenant_id, "k", Role.ADMIN, [wiki.scope.owner_id])
    signed = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
    for shown in (None, "x", TOKEN[:-1], TOKEN + "x", key.key, signed):
        stranger = Operator(service, shown)
        for method, path, given in (
            ("GET", "/tenants", None),
            ("POST", "/tenants", {"slug": "evil"}),
            ("POST", "/tenants/acme/keys", {"name": "k", "role": "admin", "owners": ["ada"]}),
            ("POST", "/tenants/acme/tokens", {"owner": "ada"}),
            ("DELETE", f"/tenants/acme/keys/{uuid4()}", None),
        ):
            answer = await stranger.ask(method, path, json=given)
            assert status_and_code(answer) == (401, "UNAUTHENTICATED")
            assert answer.headers["www-authenticate"].startswith('Bearer realm="cairn"')
    assert [tenant["slug"] for tenant in (await operator.get("/tenants"))["items"] if tenant["slug"] == "evil"] == []
    for url in ("/api/wiki/pages", "/api/wiki/sources"):
        assert (await service.http.get(url, headers={"authorization": f"Bearer {TOKEN}"})).status_code == 401
    assert (await service.post(VIEWER, TOKEN)).status_code == 401


async def test_the_score_boost_of_an_owner_is_set(operator: Operator) -> None:
    path = "/tenants/acme/owners/ada"
    answer = await operator.ask("PATCH", path, json={"score_boost": 1.5})
    assert (answer.status_code, answer.json()["score_boost"]) == (200, 1.5)
    (ada,) = (await operator.get("/tenants/acme/owners"))["items"]
    assert ada["score_boost"] == 1.5
    for given, field in (({"score_boost": 11}, "score_boost"), ({}, "score_boost")):
        wrong = await operator.ask("PATCH", path, json=given)
        assert (status_and_code(wrong), wrong.json()["field"]) == ((422, "BAD_USER_INPUT"), field)
    nobody = await operator.ask("PATCH", "/tenants/acme/owners/nobody", json={"score_boost": 1})
    assert status_and_code(nobody) == (404, "NOT_FOUND")


async def test_each_error_has_a_code_and_a_field(operator: Operator) -> None:
    for path, given, code, field in (
        ("/tenants", {"slug": "acme"}, (409, "SLUG_TAKEN"), "slug"),
        ("/tenants", {"slug": "Not A Slug"}, (422, "BAD_USER_INPUT"), "slug"),
        ("/tenants", {"slug": "b", "plan": "gold"}, (422, "BAD_USER_INPUT"), "plan"),
        ("/tenants/acme/owners", {"kind": "user", "slug": "ada"}, (409, "SLUG_TAKEN"), "slug"),
        ("/tenants/acme/owners", {"kind": "robot", "slug": "b"}, (422, "BAD_USER_INPUT"), "kind"),
        ("/tenants/acme/owners", {"kind": "user", "slug": "b", "language": "x"}, (422, "BAD_USER_INPUT"), "language"),
        ("/tenants/acme/keys", {"name": "k", "role": "reader", "owners": []}, (422, "BAD_USER_INPUT"), "owners"),
        ("/tenants/nobody/owners", {"kind": "user", "slug": "b"}, (404, "NOT_FOUND"), None),
        ("/tenants/%00/owners", {"kind": "user", "slug": "b"}, (404, "NOT_FOUND"), None),
        ("/tenants/acme/keys", {"name": "k", "role": "reader", "owners": ["\0"]}, (404, "NOT_FOUND"), None),
        ("/tenants/acme/tokens", {"owner": "nobody"}, (404, "NOT_FOUND"), None),
    ):
        answer = await operator.ask("POST", path, json=given)
        assert (status_and_code(answer), answer.json().get("field")) == (code, field), (path, given)
    past = {"name": "k", "role": "reader", "owners": ["ada"], "expires_at": "2020-01-01T00:00:00Z"}
    answer = await operator.ask("POST", "/tenants/acme/keys", json=past)
    assert (status_and_code(answer), answer.json()["field"]) == ((422, "BAD_USER_INPUT"), "expires_at")
    for path in ("/tenants?cursor=%00", "/tenants?limit=0", "/tenants?x=1", "/tenants/acme/keys?cursor=x"):
        assert status_and_code(await operator.ask("GET", path)) == (422, "BAD_USER_INPUT")
    wrong = await operator.service.http.put(f"{PATH}/tenants", headers={"authorization": f"Bearer {TOKEN}"})
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, HEAD, POST")


async def test_an_admin_request_reaches_only_the_tenant_in_its_path(operator: Operator, wiki: Wiki) -> None:
    await operator.make("/tenants", slug="rival")
    eve = await operator.make("/tenants/rival/owners", kind="user", slug="eve")
    theirs = await operator.make("/tenants/rival/keys", name="k", role="admin", owners=["eve"])
    assert (await operator.ask("DELETE", f"/tenants/acme/keys/{theirs['id']}")).status_code == 404
    for name in ("eve", eve["id"]):
        given = {"name": "k", "role": "reader", "owners": ["ada", name]}
        assert (await operator.ask("POST", "/tenants/acme/keys", json=given)).status_code == 404
        assert (await operator.ask("POST", "/tenants/acme/tokens", json={"owner": name})).status_code == 404
    assert (await operator.get("/tenants/acme/keys"))["items"] == []
    assert (await operator.get("/tenants/rival/keys"))["items"][0]["state"] == "active"


async def test_lists_are_paged_by_cursor(operator: Operator) -> None:
    for n in range(4):
        await operator.make("/tenants", slug=f"t{n}")
        await operator.make("/tenants/acme/owners", kind="user", slug=f"o{n}")
        await operator.make("/tenants/acme/keys", name=f"k{n}", role="reader", owners=["ada"])
    for path, member in (("/tenants", "slug"), ("/tenants/acme/owners", "slug"), ("/tenants/acme/keys", "name")):
        whole = [item[member] for item in (await operator.get(path))["items"]]
        found, cursor = [], ""
        while cursor is not None:
            part = await operator.get(f"{path}?limit=2{cursor and f'&cursor={cursor}'}")
            assert len(part["items"]) <= 2
            found += [item[member] for item in part["items"]]
            cursor = part["next"]
        assert found == whole
        assert len(whole) >= 4


async def test_an_api_key_is_restricted_and_rotated(operator: Operator, wiki: Wiki) -> None:
    tenant = await wiki.connection.fetchval("SELECT slug FROM tenants")
    owner = await wiki.connection.fetchval("SELECT slug FROM owners")
    given = {"name": "k", "scopes": ["wiki:read"], "networks": ["203.0.113.0/24"], "owners": [owner]}
    issued = (await operator.ask("POST", f"/tenants/{tenant}/keys", json=given)).json()
    path = f"/tenants/{tenant}/keys/{issued['id']}/rotate"
    rotated = (await operator.ask("POST", path, json={"overlap_seconds": 60})).json()
    assert rotated["id"] == issued["id"]
    assert rotated["key"] != issued["key"]
    (listed,) = (await operator.get(f"/tenants/{tenant}/keys"))["items"]
    assert (listed["role"], listed["scopes"], listed["networks"]) == ("reader", ["wiki:read"], ["203.0.113.0/24"])
    assert listed["former_until"] == rotated["former_until"]
    assert status_and_code(await operator.ask("POST", path, json={"overlap_seconds": -1})) == (422, "BAD_USER_INPUT")
    assert status_and_code(await operator.ask("POST", path.replace(issued["id"], str(uuid4())), json={})) == (
        404,
        "NOT_FOUND",
    )


async def test_an_idempotency_key_is_refused(operator: Operator, wiki: Wiki) -> None:
    for path, given in (
        ("/tenants", {"slug": "b"}),
        ("/tenants/acme/owners", {"kind": "user", "slug": "b"}),
        ("/tenants/acme/keys", {"name": "k", "role": "reader", "owners": ["ada"]}),
        ("/tenants/acme/tokens", {"owner": "ada"}),
    ):
        answer = await operator.ask("POST", path, {"idempotency-key": "k-1"}, json=given)
        assert status_and_code(answer) == (422, "IDEMPOTENCY_KEY_NOT_ALLOWED")
    assert await wiki.connection.fetch("SELECT * FROM idempotency_keys") == []
    assert (await operator.get("/tenants/acme/keys"))["items"] == []


async def test_bodies_and_rates_are_bounded(dsn: str, tmp_path: Path) -> None:
    bounds = {"max_body": 500, "credential_rate": 0.001, "credential_burst": 5}
    async with serving(dsn, tmp_path, admin_token=TOKEN, **bounds) as service:
        operator = Operator(service)
        large = await operator.ask("POST", "/tenants", json={"slug": "a", "name": "x" * 1000})
        assert status_and_code(large) == (413, "LIMIT_EXCEEDED")
        text = await operator.ask("POST", "/tenants", content=b"{}", headers={"content-type": "text/plain"})
        assert status_and_code(text) == (415, "UNSUPPORTED_MEDIA_TYPE")
        answers = [await operator.ask("GET", "/tenants") for _ in range(20)]
    assert answers[0].status_code == 200
    assert status_and_code(answers[-1]) == (429, "THROTTLED")
    assert int(answers[-1].headers["retry-after"]) >= 1


async def test_no_secret_is_in_a_table_or_a_log(
    operator: Operator, wiki: Wiki, capfd: pytest.CaptureFixture[str]
) -> None:
    key = (await operator.make("/tenants/acme/keys", name="k", role="reader", owners=["ada"]))["key"]
    token = (await operator.make("/tenants/acme/tokens", owner="ada"))["token"]
    output = capfd.readouterr()
    logged = [json.loads(line) for line in output.err.splitlines() if line.startswith("{")]
    calls = [record["path"] for record in logged if record["event"] == "request"]
    assert calls[-2:] == [f"{PATH}/tenants/{{tenant}}/keys", f"{PATH}/tenants/{{tenant}}/tokens"]
    rows = await all_rows_as_text(wiki)
    for secret in (key.removeprefix("cairn_"), token.rpartition(".")[2], TOKEN):
        assert secret not in output.err + output.out
        assert secret not in rows


async def test_the_example_of_the_documentation_runs(service: Service, wiki: Wiki) -> None:
    text = (ROOT / "docs" / "reference" / "credentials.md").read_text()
    (example,) = [block for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if "/api/admin" in block]
    env = os.environ | {"CAIRN": service.url, "CAIRN_ADMIN_TOKEN": TOKEN}
    command = ["bash", "-euo", "pipefail", "-c", example]
    result = await asyncio.to_thread(subprocess.run, command, env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr + result.stdout
    tenant, owner, key, token = [json.loads(part) for part in re.findall(r"\{.*?\}", result.stdout)]
    assert (tenant["name"], owner["slug"], token["expires_in"]) == ("Acme Ltd", "mara", 900)
    assert (await service.ask("{ viewer { role } }", key["key"]))["data"]["viewer"] == {"role": "SERVICE"}
    assert (await service.ask("{ viewer { role } }", token["token"]))["data"]["viewer"] == {"role": "MEMBER"}
    (stored_key,) = await list_api_keys(wiki.database, (await find_tenant(wiki.database, "acme")).id)
    assert stored_key.name == "sync"
