"""Limits of requests: rate limits, concurrency, timeouts and introspection."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from db.scope import Role
from resolvers.rate_limits import Throttle
from tests.app.service import Service, serving
from tests.waiting import within
from tests.wiki import Wiki, close_wiki, open_wiki

PAGES = "{ recentWikiPages(limit: 20) { id } }"
PAGES_AND_RATE_LIMIT = "{ recentWikiPages(limit: 20) { id } rateLimit { limit cost remaining used resetAt } }"
CREATE = """mutation($input: CreateWikiPageInput!) {
    createWikiPage(input: $input) { page { id } userErrors { code } } }"""


def is_throttled(response: httpx.Response) -> bool:
    if response.status_code == 200:
        return False
    assert response.status_code == 429
    (error,) = response.json()["errors"]
    assert error["extensions"]["code"] == "THROTTLED"
    assert int(response.headers["retry-after"]) == error["extensions"]["retryAfter"] >= 1
    assert "data" not in response.json()
    return True


async def until_throttled(service: Service, token: str, query: str = PAGES, limit: int = 100) -> int:
    for n in range(limit):
        if is_throttled(await service.post(query, token)):
            return n
    raise AssertionError("never throttled")


async def test_a_credential_over_its_limit_is_told_when_to_retry(
    statements: list[str], dsn: str, tmp_path: Path, wiki: Wiki
) -> None:
    async with serving(dsn, tmp_path, credential_rate=0.5, credential_burst=210, tenant_rate=0) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        assert 10 <= await until_throttled(service, token) <= 11
        statements.clear()
        unread = await service.post(PAGES, token)
        assert is_throttled(unread)
        assert unread.json()["errors"][0]["message"].startswith("No row is left now. Try again in ")
        assert is_throttled(await service.post(CREATE, token, {"input": {"type": "TOPIC", "title": "T"}}))
        assert statements == []
        other = service.token(wiki.scope.tenant_id, (await wiki.neighbour()).scope.owner_id)
        assert not is_throttled(await service.post(PAGES, other))


async def test_a_tenant_over_its_limit_stops_only_its_own_credentials(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    elsewhere = await open_wiki(dsn)
    async with serving(dsn, tmp_path, credential_rate=0, tenant_rate=0.5, tenant_burst=210) as service:
        tokens = [service.token(wiki.scope.tenant_id, (await wiki.neighbour()).scope.owner_id) for _ in range(12)]
        answers = [is_throttled(await service.post(PAGES, token)) for token in tokens]
        assert answers.count(False) in (10, 11)
        token = service.token(elsewhere.scope.tenant_id, elsewhere.scope.owner_id)
        assert not is_throttled(await service.post(PAGES, token))
    await close_wiki(elsewhere)


async def test_a_client_reads_its_remaining_limit_and_the_cost(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, credential_rate=0.01, credential_burst=1000) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        answers = [(await service.post(PAGES_AND_RATE_LIMIT, token)).json() for _ in range(3)]
        limits = [answer["data"]["rateLimit"] for answer in answers]
        assert [(limit["limit"], limit["cost"], limit["used"]) for limit in limits] == [
            (1000, 21, 21),
            (1000, 21, 42),
            (1000, 21, 63),
        ]
        assert [limit["remaining"] for limit in limits] == [979, 958, 937]
        assert answers[0]["extensions"] == {"cost": {"requested": 21, "limit": 20_000}}
        introspecting = PAGES_AND_RATE_LIMIT.replace("{", "{ __schema { queryType { name } }", 1)
        assert (await service.ask(introspecting, token))["data"]["rateLimit"]["limit"] == 1000


async def test_rate_limit_leases_are_few_and_add_no_statement_to_requests(
    statements: list[str], dsn: str, tmp_path: Path, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases = 0
    lease = Throttle.lease

    async def counting(*arguments: Any) -> Any:
        nonlocal leases
        leases += 1
        return await lease(*arguments)

    monkeypatch.setattr(Throttle, "lease", counting)
    async with serving(dsn, tmp_path, credential_rate=1000, credential_burst=1000, tenant_rate=0) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        await service.post(PAGES, token)
        statements.clear()
        for _ in range(40):
            assert not is_throttled(await service.post("{ recentWikiPages(limit: 9) { id } }", token))
        assert len(statements) == 40
    assert leases <= 1 + (40 * 10) / 50  # one for each half of a portion, which is 100


async def test_refused_requests_are_charged_too(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, credential_rate=0.1, credential_burst=10) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        assert 10 <= await until_throttled(service, token, "{ nothing }") <= 12


async def test_concurrent_requests_of_a_credential_are_limited(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, max_concurrent=2) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        other = service.token(wiki.scope.tenant_id, (await wiki.neighbour()).scope.owner_id)
        async with wiki.connection.transaction():
            await wiki.connection.execute("LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
            waiting = [asyncio.create_task(service.post(PAGES, token)) for _ in range(2)]
            async with within("the requests did not wait for the lock"):
                while await count_blocked(wiki) < 2:
                    await asyncio.sleep(0.01)
            assert is_throttled(await service.post("{ __typename }", token))
            assert not is_throttled(await service.post("{ __typename }", other))
        assert not any([is_throttled(await task) for task in waiting])
        assert not is_throttled(await service.post(PAGES, token))


async def count_blocked(wiki: Wiki) -> int:
    """Return how many statements of this database wait for a lock."""
    sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    # Statistics are kept for the length of a transaction unless they are asked for anew.
    await wiki.connection.execute("SELECT pg_stat_clear_snapshot()")
    found: int = await wiki.connection.fetchval(sql)
    return found


# -- time


async def test_a_request_over_its_timeout_is_stopped_with_its_statement(
    dsn: str, tmp_path: Path, service: Service, wiki: Wiki, token: str
) -> None:
    async with (
        serving(dsn, tmp_path, request_timeout=0.3, statement_timeout=60) as hasty,
        wiki.connection.transaction(),
    ):
        await wiki.connection.execute("LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
        response = await hasty.post(PAGES, token)
        assert response.status_code == 504
        assert response.json()["errors"][0]["extensions"] == {"code": "TIMEOUT", "writes": 0}
        async with within("the stopped request still waited for the lock"):
            while await count_blocked(wiki):
                await asyncio.sleep(0.01)
    assert await service.ask(PAGES, token) == {"data": {"recentWikiPages": []}}


async def test_a_write_over_the_request_timeout_is_not_done(
    dsn: str, tmp_path: Path, service: Service, wiki: Wiki, token: str
) -> None:
    async with serving(dsn, tmp_path, request_timeout=0.3, statement_timeout=60) as hasty:
        async with wiki.connection.transaction():
            await wiki.connection.execute("LOCK TABLE aliases IN ACCESS EXCLUSIVE MODE")
            response = await hasty.post(CREATE, token, {"input": {"type": "TOPIC", "title": "T"}})
            assert (response.status_code, response.json()["errors"][0]["extensions"]["writes"]) == (504, 0)
            assert "Nothing was written" in response.json()["errors"][0]["message"]
        assert await wiki.rows("pages") == []
    created: Any = await service.ask(CREATE, token, input={"type": "TOPIC", "title": "T"})
    assert created["data"]["createWikiPage"]["page"]


async def test_a_timeout_error_has_the_number_of_writes_already_done(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    """The second mutation waits for a lock on the other wiki."""
    other = await wiki.neighbour()
    text = """mutation($o: ID!) {
        a: createWikiPage(input: {type: TOPIC, title: "A"}) { created }
        b: createWikiPage(input: {type: TOPIC, title: "B", ownerId: $o}) { created } }"""
    async with serving(dsn, tmp_path, request_timeout=1.5, statement_timeout=60) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)
        async with wiki.connection.transaction():
            locked = "SELECT 1 FROM owners WHERE tenant_id = $1 AND id = $2 FOR UPDATE"
            await wiki.connection.execute(locked, wiki.scope.tenant_id, other.scope.owner_id)
            response = await service.post(text, token, {"o": str(other.scope.owner_id)})
            assert response.status_code == 504
            assert response.json()["errors"][0]["extensions"] == {"code": "TIMEOUT", "writes": 1}
        assert [page["title"] for page in await wiki.rows("pages")] == ["A"]
        assert await other.rows("pages") == []


# -- introspection


@pytest.mark.parametrize(
    ("policy", "roles"), [("everyone", {"ADMIN", "MEMBER"}), ("admin", {"ADMIN"}), ("nobody", set())]
)
async def test_the_introspection_setting_chooses_the_allowed_roles(
    dsn: str, tmp_path: Path, wiki: Wiki, policy: str, roles: set[str]
) -> None:
    async with serving(dsn, tmp_path, introspection=policy) as service:
        for role in (Role.ADMIN, Role.MEMBER):
            token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, role)
            answer = await service.ask("{ __schema { queryType { name } } }", token)
            assert ("data" in answer) == (role.name in roles)
            assert (await service.ask("{ __typename }", token))["data"] == {"__typename": "Query"}
            misspelt = await service.ask("{ viewr { role } }", token)
            assert ("Did you mean" in str(misspelt)) == (policy == "everyone")
