"""Tests that simultaneous requests of many connections are begun gradually, and when garbage is collected."""

import asyncio
import gc
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from app.server.protocol import COLLECT_AFTER, REQUESTS_PER_PASS
from app.server.serve import bind, config_of
from app.server.server import DRAINING, FEW_REQUESTS, MAX_POSTPONED, GarbageCollection
from app.settings import Settings
from tests.waiting import within

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
CLIENTS = 5 * REQUESTS_PER_PASS


class Slow:
    """An application that records the pass of the event loop in which each request begins, and answers when told."""

    def __init__(self) -> None:
        self.passes, self.began = 0, list[int]()
        self.may_answer = asyncio.Event()

    def count_pass(self) -> None:
        self.passes += 1
        self.handle = asyncio.get_running_loop().call_soon(self.count_pass)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        self.began.append(self.passes)
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})


@asynccontextmanager
async def serving(app: Slow, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[uvicorn.Server]:
    monkeypatch.setattr(DRAINING, "is_on", False)
    server = uvicorn.Server(config_of(app, Settings()))
    listening = bind("127.0.0.1", 0)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        async with within("the server had not started"):
            while not server.started:
                await asyncio.sleep(0.01)
        yield server
    finally:
        app.may_answer.set()
        server.should_exit = True
        await running


async def connections(server: uvicorn.Server, number: int, opened: ExitStack) -> list[socket.socket]:
    """Open that number of connections, and return them when the server has accepted them."""
    address = server.servers[0].sockets[0].getsockname()
    sockets = []
    for _ in range(number):
        sockets.append(opened.enter_context(socket.socket()))
        sockets[-1].setblocking(False)
        await asyncio.get_running_loop().sock_connect(sockets[-1], address)
    async with within("not all were accepted"):
        while len(server.server_state.connections) < number:
            await asyncio.sleep(0.01)
    return sockets


async def begun(app: Slow, number: int) -> None:
    async with within("not all requests began"):
        while len(app.began) < number:
            await asyncio.sleep(0)


async def answers(connection: socket.socket, number: int) -> bytes:
    received = b""
    async with within("an answer was missing"):
        while received.count(b"HTTP/1.1 204") < number:
            received += await asyncio.get_running_loop().sock_recv(connection, 65_536)
    return received


@contextmanager
def never_collecting_by_itself() -> Iterator[None]:
    """Disable automatic garbage collection, as if as many objects ended as began."""
    before = gc.get_threshold()
    gc.set_threshold(10_000_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


async def test_a_pass_of_the_loop_begins_a_limited_number_of_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Slow()
    async with serving(app, monkeypatch) as server:
        with ExitStack() as opened:
            clients = await connections(server, CLIENTS, opened)
            app.count_pass()
            for client in clients:  # the loop does not run meanwhile: all are ready at once
                client.send(GET)
            await begun(app, CLIENTS)
            app.handle.cancel()
            assert max(Counter(app.began).values()) <= REQUESTS_PER_PASS
            app.may_answer.set()
            for client in clients:
                await answers(client, 1)


async def test_pipelined_requests_of_a_crowd_are_all_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Slow()
    app.may_answer.set()
    async with serving(app, monkeypatch) as server:
        with ExitStack() as opened:
            clients = await connections(server, CLIENTS, opened)
            for piece in (GET[:20], GET[20:] + GET, GET):
                for client in clients:
                    client.send(piece)
                await asyncio.sleep(0)
            for client in clients:
                assert (await answers(client, 3)).count(b"HTTP/1.1 204") == 3
            assert len(app.began) == 3 * CLIENTS


async def test_a_client_that_leaves_early_blocks_no_other_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = Slow()
    app.may_answer.set()
    async with serving(app, monkeypatch) as server:
        with ExitStack() as opened:
            clients = await connections(server, CLIENTS, opened)
            for client in clients:
                client.send(GET)
            for client in clients[:-1]:
                client.close()
            await answers(clients[-1], 1)


async def test_objects_of_waiting_requests_leave_the_young_generations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = Slow()
    async with serving(app, monkeypatch) as server:
        with ExitStack() as opened, never_collecting_by_itself():
            clients = await connections(server, CLIENTS, opened)
            gc.collect()
            for done, client in enumerate(clients, 1):
                client.send(GET)
                await begun(app, done)
            young = [item for generation in (0, 1) for item in gc.get_objects(generation)]
            waiting = [item for item in young if isinstance(item, asyncio.Task)]
            assert len(waiting) <= 2 * COLLECT_AFTER


async def test_a_full_garbage_collection_is_postponed_under_load() -> None:
    full_collections: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            full_collections.append(1)

    requests: list[int] = []
    collection = GarbageCollection(requests)
    gc.callbacks.append(note)
    try:
        with never_collecting_by_itself():
            few, many = FEW_REQUESTS, FEW_REQUESTS + 1
            for running, expected in ((few, 1), (many, 0), (few, 1), *[(many, 0)] * MAX_POSTPONED, (many, 1)):
                requests[:] = range(running)
                full_collections.clear()
                collection.collect_if_calm()
                collection.stop()
                assert len(full_collections) == expected
    finally:
        gc.callbacks.remove(note)
