"""The same headers again: what they said is remembered, what may have changed is looked at each time."""

import asyncio
from pathlib import Path
from time import time
from uuid import uuid4

import httpx
import pytest

from app.callers import LONGEST, Caller, Callers
from app.request import GRAPHQL_JSON, JSON, KNOWN
from tests.app.bytes_client import connected
from tests.app.service import Service, serving
from tests.app.test_recurring import HOME, WRITE, body, send
from tests.wiki import Wiki

KINDS = {"*/*": JSON, GRAPHQL_JSON: GRAPHQL_JSON, f"{JSON}, {GRAPHQL_JSON};q=0": JSON}


async def statuses(service: Service, token: str, times: int, text: bytes = body(HOME), **headers: str) -> list[int]:
    return [(await send(service, token, text, **headers)).status_code for _ in range(times)]


async def test_a_token_that_has_ended_is_refused_however_often_it_came(service: Service, wiki: Wiki) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, ttl=2)
    assert await statuses(service, token, 4) == [200] * 4
    async with asyncio.timeout(10):
        while (answer := await send(service, token, body(HOME))).status_code == 200:
            await asyncio.sleep(0.05)
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]) == (401, {"code": "UNAUTHENTICATED"})


async def test_each_is_answered_in_the_media_type_that_it_accepts(service: Service, token: str) -> None:
    for _ in range(3):
        for accepted, kind in KINDS.items():
            answer = await send(service, token, body(HOME), accept=accepted)
            assert answer.headers["content-type"].partition(";")[0] == kind
            refused = await send(service, token, body("{ nothing }"), accept=accepted)
            assert refused.status_code == (400 if kind == GRAPHQL_JSON else 200)


async def test_who_is_known_by_one_header_is_not_by_another(service: Service, token: str) -> None:
    for _ in range(3):
        assert await statuses(service, token, 2) == [200, 200]
        assert await statuses(service, token, 1, **{"content-encoding": "gzip"}) == [415]
        assert await statuses(service, token, 1, **{"content-type": "text/plain"}) == [415]
        assert await statuses(service, token, 1, **{"x-cairn-owner": str(uuid4())}) == [403]
        assert await statuses(service, token, 1, **{"idempotency-key": "a b"}) == [400]
        assert await statuses(service, "other", 1) == [401]


async def test_the_same_words_by_another_method_are_another_request(service: Service, token: str) -> None:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    assert await statuses(service, token, 4) == [200] * 4
    found = {}
    for method in ("PUT", "DELETE", "GET", "HEAD"):
        answer = await service.http.request(method, "/graphql", content=body(HOME), headers=headers)
        found[method] = answer.status_code
    assert found == {"PUT": 405, "DELETE": 405, "GET": 400, "HEAD": 405}


async def test_of_two_credentials_the_first_counts(service: Service, token: str) -> None:
    good, bad, kind = ("authorization", f"Bearer {token}"), ("authorization", "Bearer x"), ("content-type", JSON)
    for _ in range(3):
        for headers, status in (([good, bad, kind], 200), ([bad, good, kind], 401)):
            answer = await service.http.post("/graphql", content=body(HOME), headers=headers)
            assert answer.status_code == status


async def test_a_key_is_of_one_request(service: Service, token: str) -> None:
    async def write(key: str) -> httpx.Response:
        return await send(service, token, body(WRITE), **{"idempotency-key": key})

    await statuses(service, token, 3)
    first, again, other = await write("a"), await write("a"), await write("b")
    assert first.content == again.content
    assert ["idempotency-replayed" in one.headers for one in (first, again, other)] == [False, True, False]


async def test_what_is_too_large_is_from_whomever_it_comes(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, max_body=2000) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        assert await statuses(service, token, 3) == [200] * 3
        assert await statuses(service, token, 2, body(HOME + " " * 2000)) == [413] * 2


def request(token: str, text: bytes) -> bytes:
    head = f"POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text


async def test_requests_in_one_packet_each_have_their_own_body(service: Service, token: str) -> None:
    names = ["a", "b", "c"]
    sent = b"".join(request(token, body(f"{{ {name}: viewer {{ role }} }}")) for name in names)
    async with connected(service) as client:
        for _ in range(3):
            await client.say(sent)
            for name in names:
                assert b'"%b"' % name.encode() in (await client.answer())[2]


@pytest.mark.parametrize("behind", [1, 40])
async def test_a_body_in_pieces_is_one(service: Service, token: str, behind: int) -> None:
    """And so is one whose last piece brings the next request."""
    one = request(token, body("{ one: viewer { role } }"))
    two = request(token, body("{ two: viewer { role } }"))
    async with connected(service) as client:
        for _ in range(3):
            await client.say(one[:-behind])
            await asyncio.sleep(0.02)
            await client.say(one[-behind:] + two)
            assert b'"one"' in (await client.answer())[2]
            assert b'"two"' in (await client.answer())[2]


# -- what is remembered

CALLER = Caller(None, JSON, time() + 60)


def scope(method: str = "POST", **headers: str) -> dict[str, object]:
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"method": method, "headers": sent}


def learned(caller: Caller = CALLER, method: str = "POST", **headers: str) -> bool:
    callers = Callers()
    callers.learn(scope(method, **headers), caller)
    return bool(callers.entries)


def test_who_has_to_be_asked_for_each_time_is_not_remembered() -> None:
    assert learned(authorization="Bearer a", accept="*/*", host="x")
    assert not learned(authorization="Bearer a", idempotency_key="k")
    assert not learned(authorization="Bearer a", x_cairn_owner="o")
    assert not learned(authorization="Bearer " + "a" * LONGEST)
    assert not learned(method="GET", authorization="Bearer a")
    assert not learned(CALLER._replace(until=0.0), authorization="Bearer a"), "an API key"


def test_nobody_is_known_for_longer_than_the_credential_is_good() -> None:
    callers = Callers()
    callers.learn(scope(authorization="Bearer a"), CALLER._replace(until=time() - 1))
    assert callers.met(scope(authorization="Bearer a")) is None


def test_headers_that_say_nothing_of_who_asks_make_no_other() -> None:
    callers = Callers()
    callers.learn(scope(authorization="Bearer a", user_agent="x"), CALLER)
    assert callers.met(scope(authorization="Bearer a", user_agent="y", x_request_id="1")) == CALLER
    assert callers.met(scope(authorization="Bearer b", user_agent="x")) is None
    assert callers.met(scope(authorization="Bearer a", accept="*/*")) is None


async def test_who_is_known_with_a_head_is_refused_once_the_token_has_ended(service: Service, wiki: Wiki) -> None:
    """And somebody's new token is looked at, whatever was known of the old one."""
    old = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, ttl=2)
    new = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    text = body("{ viewer { role } }")
    async with connected(service) as client:

        async def said(token: str) -> bytes:
            await client.say(request(token, text))
            return (await client.answer())[0]

        assert [await said(old) for _ in range(6)] == [b"HTTP/1.1 200 OK"] * 6
        async with asyncio.timeout(10):
            while (status := await said(old)) == b"HTTP/1.1 200 OK":
                await asyncio.sleep(0.05)
        assert status == b"HTTP/1.1 401 Unauthorized"
        assert await said(new) == b"HTTP/1.1 200 OK"


def test_what_is_known_with_a_head_holds_for_as_long_as_it_is_good() -> None:
    callers, known = Callers(), scope(authorization="Bearer a") | {KNOWN: {}}
    callers.learn(known, CALLER)
    assert callers.met(known) is CALLER
    callers.entries.clear()
    assert callers.met(known) is CALLER
    known[KNOWN] = {"caller": CALLER._replace(until=time() - 1)}
    assert callers.met(known) is None
    callers.learn(known, CALLER)
    assert callers.met(known) is CALLER
    assert known[KNOWN] == {"caller": CALLER}
