"""A head that came before is not read again, and whoever sends it is answered as if it were."""

import asyncio
from itertools import accumulate, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from app.comings import Comings
from app.connections import Connection
from app.heads import ENTRIES, LONGEST, Heads
from app.request import WHOLE
from app.serving import options
from app.settings import Settings
from tests.app.test_exchange import Noting

SAME = b"POST /a?b HTTP/1.1\r\nHost: x\r\nX-Y: 1\r\nContent-Length: 4\r\n\r\n"
GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
WHOLE_REQUESTS = [
    SAME + b"bean",
    SAME + b"beef",
    SAME + b"\r\n\r\n",
    SAME.replace(b"X-Y: 1", b"x-y: 1") + b"bean",
    SAME.replace(b"POST", b"PUT") + b"bean",
    SAME.replace(b"Length: 4", b"Length: 5") + b"beans",
    GET,
    b"\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /%C3%BC HTTP/1.1\r\nHost: x\r\nX-Y: 1\r\nx-y: 2\r\n\r\n",
    b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n\r\nbean",
]
REQUESTS = [
    *WHOLE_REQUESTS,
    b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbean\r\n0\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbean",
]
LAST = [
    b"",
    b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET /a HTTP/1.0\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /a HTTP/1.1\nHost: x\n\n",
    b"no request\r\n\r\n",
    SAME[:30],
    SAME + b"be",
]


class Forgetful(Heads):
    """Knows no head."""

    def met(self, data: bytes) -> None:
        return None


class Wire(Noting):
    """One on which nothing comes by itself."""

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


class Exchanged:
    """What a connection read, as the application saw it, and what it wrote."""

    def __init__(self, heads: Heads, slowness: float = 0.0, keep_alive: float = 60) -> None:
        """Both in seconds."""
        self.read: list[Any] = []
        self.slowness = slowness
        self.state, self.transport = ServerState(), Wire()
        self.config = options(self, Settings(keep_alive=keep_alive))
        self.config.heads = heads
        self.config.load()
        self.protocol = Connection(self.config, self.state, {})
        self.protocol.connection_made(self.transport)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers with what it was sent, and changes what it may change."""
        told = {name: value for name, value in scope.items() if name != "headers" and not name.startswith("cairn.")}
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        assert scope.get(WHOLE) in (None, body)
        self.read.append((told | {"state": scope["state"].copy()}, [*scope["headers"]], body))
        scope["headers"].append((b"x-added", b"1"))
        scope["state"]["x"] = 1
        await asyncio.sleep(self.slowness)
        leaving = asyncio.ensure_future(receive())
        await asyncio.sleep(0)
        length = (b"content-length", b"%d" % len(body))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": body})
        assert (await leaving)["type"] == "http.disconnect"

    async def say(self, data: bytes, is_waiting: bool) -> None:
        """And wait, where all of it can be answered."""
        if not self.transport.is_closed:
            self.protocol.data_received(data)
        if is_waiting and self.protocol.is_between:
            await asyncio.sleep(0)
            await asyncio.wait_for(asyncio.gather(*self.state.tasks), 5)

    async def close(self) -> None:
        self.protocol.connection_lost(None)
        await asyncio.gather(*self.state.tasks)


async def exchanged(heads: Heads, said: list[tuple[bytes, bool]]) -> tuple[list[Any], bytes, bool]:
    one = Exchanged(heads)
    for piece, is_waiting in said:
        await one.say(piece, is_waiting)
    await one.close()
    return one.read, b"".join(one.transport.written), one.transport.is_closed


@st.composite
def conversations(draw: st.DrawFn) -> list[tuple[bytes, bool]]:
    """Requests in pieces of any size; after each piece, whether the client waits for what was asked to be answered."""
    requests = [*draw(st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=8)), draw(st.sampled_from(LAST))]
    if draw(st.booleans()):
        pieces = requests
    else:
        cuts = sorted(draw(st.sets(st.integers(0, len(b"".join(requests))), max_size=12)))
        ends = [*accumulate(map(len, requests))] if draw(st.booleans()) else []
        places = sorted({0, *cuts, *ends, len(b"".join(requests))})
        pieces = [b"".join(requests)[start:end] for start, end in pairwise(places)]
    return [(piece, draw(st.booleans())) for piece in pieces if piece]


async def check_same(*conversations: list[tuple[bytes, bool]]) -> Heads:
    """One after the other, and often enough for what they say to be known."""
    heads = Heads()
    for conversation in conversations * 5:
        assert await exchanged(heads, conversation) == await exchanged(Forgetful(), conversation)
    return heads


@given(st.lists(conversations(), min_size=1, max_size=3))
def test_whatever_is_known_the_same_is_read_and_written(said: list[list[tuple[bytes, bool]]]) -> None:
    asyncio.run(check_same(*said))


@pytest.mark.parametrize("sent", [*REQUESTS, *LAST])
async def test_each_is_answered_as_if_it_came_for_the_first_time(sent: bytes) -> None:
    await check_same([(sent, True)], [(sent, True), (GET, True)], [(GET, False), (sent, False), (GET, True)])


async def test_what_begins_in_the_middle_of_a_head_is_no_head() -> None:
    sent = SAME + b"bean"
    for cut in (4, 12, 30, len(SAME) - 4, len(SAME)):
        await check_same([(sent[:cut], True), (sent[cut:], True)], [(sent[cut:], True)])


@pytest.mark.parametrize("sent", WHOLE_REQUESTS)
async def test_one_is_known_when_it_comes_for_the_third_time(sent: bytes) -> None:
    heads = Heads()
    for number in range(5):
        assert heads.tally.hits == max(0, number - 2)
        await exchanged(heads, [(sent, True)])


@pytest.mark.parametrize("sent", [*REQUESTS[len(WHOLE_REQUESTS) :], *LAST])
async def test_one_is_never_known_that_has_more_to_it_than_its_bytes(sent: bytes) -> None:
    assert not (await check_same([(sent, True)])).entries


async def test_a_long_head_is_not_known_and_neither_is_one_with_a_long_body() -> None:
    long_head = GET.replace(b"Host: x", b"Host: x\r\nX: " + b"y" * LONGEST)
    long_body = SAME.replace(b": 4", b": 70000") + b"x" * 70_000
    assert not (await check_same([(long_head, True)], [(long_body, True)])).entries


@pytest.mark.parametrize("heads", [Heads(), Forgetful()])
async def test_a_connection_is_idle_only_once_all_is_answered(heads: Heads) -> None:
    for _ in range(2):
        await exchanged(heads, [(GET, True)])
    one = Exchanged(heads, slowness=0.6, keep_alive=0.4)
    for _ in range(3):
        await one.say(GET, is_waiting=True)
    assert not one.transport.is_closed
    await asyncio.sleep(1)
    assert one.transport.is_closed
    await one.close()


async def test_no_more_than_so_many_are_known() -> None:
    heads = Heads()
    for number in range(ENTRIES + 9):
        data = SAME.replace(b"X-Y: 1", b"X-Y: %d" % number)
        for _ in range(2):
            heads.learn(data, {"headers": []}, b"")
    assert len(heads.entries) == ENTRIES


def test_what_came_long_ago_has_not_come() -> None:
    comings = Comings(2)
    assert [comings.again(7) for _ in range(3)] == [False, True, True]
    assert not any(comings.again(number) for number in range(100, 120))
    assert not comings.again(7)
    assert len(comings.recent) + len(comings.earlier) < 7
