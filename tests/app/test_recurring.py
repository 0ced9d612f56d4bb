"""The same bytes again: what is remembered of them, and what is asked anew each time."""

from pathlib import Path
from typing import Any

import httpx
import orjson

from app.recurring import LARGEST, Requests, weight
from app.request import Operation, operation
from db.scope import Role
from schema.root import GRAPHQL
from selection.kept import Kept, Slot
from selection.lru import LRU
from tests.app.service import Service, serving
from tests.app.test_documents import automatic
from tests.app.test_metrics import counted
from tests.wiki import Wiki, close_wiki, open_wiki

HOME = "query Home { viewer { role owner { id } } wikiPages(first: 5) { totalCount nodes { title } } }"
WRITE = 'mutation { createWikiPage(input: {type: TOPIC, title: "T"}) { created } }'
HITS, MISSES = [("cairn_cache_lookups_total", "requests", result) for result in ("hit", "miss")]


async def send(service: Service, token: str, body: bytes, **headers: str) -> httpx.Response:
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"} | headers
    return await service.http.post("/graphql", content=body, headers=headers)


def body(query: str, **more: Any) -> bytes:
    return orjson.dumps({"query": query, **more})


async def test_the_same_bytes_are_read_once_and_answered_by_what_is_there_now(
    dsn: str, tmp_path: Path, wiki: Wiki
) -> None:
    async with serving(dsn, tmp_path, metrics="local") as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        first = (await send(service, token, body(HOME))).json()
        for _ in range(3):
            assert (await send(service, token, body(HOME))).json() == first
        await send(service, token, body(WRITE))
        await send(service, token, body(WRITE))
        now = (await send(service, token, body(HOME))).json()
        assert now["data"]["wikiPages"] == {"totalCount": 2, "nodes": [{"title": "T"}] * 2}
        assert now["extensions"] == first["extensions"]
        found = await counted(service)
        assert (found[HITS], found[MISSES]) == (3, 1)


async def test_nobody_is_answered_with_anothers(service: Service, wiki: Wiki, dsn: str) -> None:
    elsewhere = await open_wiki(dsn)
    callers = [
        (scope.tenant_id, scope.owner_id, role)
        for scope in (wiki.scope, elsewhere.scope)
        for role in (Role.ADMIN, Role.READER)
    ]
    for _ in range(4):
        for tenant_id, owner_id, role in callers:
            answer = (await send(service, service.token(tenant_id, owner_id, role), body(HOME))).json()
            assert answer["data"]["viewer"] == {"role": role.name, "owner": {"id": str(owner_id)}}
    own = body("query($t: ID) { recentWikiPages(tenantId: $t) { id } }", variables={"t": str(wiki.scope.tenant_id)})
    codes = []
    for tenant_id, owner_id, role in callers * 4:
        answer = (await send(service, service.token(tenant_id, owner_id, role), own)).json()
        codes.append([error["extensions"]["code"] for error in answer.get("errors", ())])
    assert codes == [[], [], ["FORBIDDEN"], ["FORBIDDEN"]] * 4
    await close_wiki(elsewhere)


async def test_credential_media_type_and_rate_are_looked_at_each_time(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, credential_rate=1, credential_burst=30) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        statuses = {(await send(service, token, body(HOME))).status_code for _ in range(10)}
        assert statuses == {200, 429}
        assert (await send(service, "not.a.token", body(HOME))).status_code == 401
        assert (await send(service, token, body(HOME), **{"content-type": "text/plain"})).status_code == 415
        assert (await send(service, token, body(HOME), accept="text/html")).status_code == 406


async def test_a_query_string_is_no_body_and_a_body_is_no_query_string(service: Service, token: str) -> None:
    headers = {"authorization": f"Bearer {token}"}
    for _ in range(3):
        assert (await send(service, token, b'{"query":"{viewer{role}}"}')).status_code == 200
    response = await service.http.get('/graphql?{"query":"{viewer{role}}"}', headers=headers)
    assert response.status_code == 400
    tags = set()
    for _ in range(4):
        response = await service.http.get("/graphql", params={"query": HOME}, headers=headers)
        assert response.status_code == 200
        tags.add(response.headers["etag"])
    assert len(tags) == 1
    response = await service.http.get(
        "/graphql", params={"query": HOME}, headers=headers | {"if-none-match": tags.pop()}
    )
    assert response.status_code == 304
    for _ in range(4):
        assert (await service.http.get("/graphql", params={"query": WRITE}, headers=headers)).status_code == 405


async def test_a_document_by_its_id_is_looked_up_each_time(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    """Whose it is does not matter to the bytes, and does to the answer."""
    elsewhere = await open_wiki(dsn)
    async with serving(dsn, tmp_path, documents="apq") as service:
        own = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        other = service.token(elsewhere.scope.tenant_id, elsewhere.scope.owner_id)
        await send(service, own, orjson.dumps(automatic(HOME, query=HOME)))
        named = orjson.dumps(automatic(HOME))
        for _ in range(4):
            assert "data" in (await send(service, own, named)).json()
            (error,) = (await send(service, other, named)).json()["errors"]
            assert error["extensions"]["code"] == "PERSISTED_QUERY_NOT_FOUND"
    await close_wiki(elsewhere)


# -- what is remembered


def executed(sent: bytes) -> Operation:
    """A read, of which the engine has kept something."""
    slot = Slot()
    slot.kept = Kept(GRAPHQL, (), None, LRU(1))  # type: ignore[arg-type]
    return operation(orjson.loads(sent), sent)._replace(slot=slot)


def test_no_more_than_so_many_and_so_many_bytes() -> None:
    requests = Requests(entries=3)
    sent = [body("{ viewer { role } }", number=number) for number in range(5)]
    for one in sent:
        requests.learn(executed(one))
    assert [requests.find(one) is not None for one in sent] == [False, False, True, True, True]
    assert requests.held == sum(map(weight, sent[2:]))
    few = Requests(size=2 * weight(sent[0]))
    for one in sent:
        few.learn(executed(one))
    assert [*few.entries] == sent[3:]
    assert few.held == few.most
    assert few.tally.evictions == 3


def test_what_comes_for_the_second_time_is_expected_and_a_long_one_never() -> None:
    requests = Requests(entries=2)
    home, long = (operation({"query": HOME}, sent) for sent in (body(HOME), body(HOME + " " * LARGEST)))
    assert [requests.expected(home).slot is not None for _ in range(3)] == [False, True, True]
    assert [requests.expected(long).slot for _ in range(3)] == [None] * 3
    for number in range(20):
        assert requests.expected(operation({"query": HOME}, b"%d" % number)).slot is None
    assert requests.expected(home).slot is None, "it is too long ago"


def test_that_of_which_nothing_was_kept_is_not_remembered() -> None:
    requests = Requests()
    requests.learn(operation({"query": WRITE}, body(WRITE)))
    requests.learn(executed(body(HOME))._replace(slot=Slot()))
    assert not requests.entries
    assert requests.held == 0


def test_one_that_is_learned_twice_is_counted_once() -> None:
    requests = Requests()
    for _ in range(2):
        requests.learn(executed(body(HOME)))
    assert requests.held == weight(body(HOME))
    assert requests.tally.misses == 1
