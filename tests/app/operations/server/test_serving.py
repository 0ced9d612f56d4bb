"""Tests the configuration of the server: trusted proxies, addresses, and garbage collection."""

import asyncio
import gc
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.cli.program import COLLECT_EVERY
from app.server.serve import NoSuchAddress, bind, config_of, local_url
from app.server.server import DRAINING, Server
from app.settings import Settings
from tests.waiting import within

FORWARDED = {"x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https"}


async def echo_connection(request: Request) -> Response:
    return JSONResponse({"client": request.client.host if request.client else None, "scheme": request.url.scheme})


echo = Starlette(routes=[Route("/", echo_connection)])


@pytest.mark.parametrize(
    ("trusted", "client", "expected"),
    [
        (None, "127.0.0.1", {"client": "127.0.0.1", "scheme": "http"}),
        ("10.0.0.0/8", "10.1.2.3", {"client": "203.0.113.7", "scheme": "https"}),
        ("10.0.0.0/8", "127.0.0.1", {"client": "127.0.0.1", "scheme": "http"}),
        ("*", "192.0.2.1", {"client": "203.0.113.7", "scheme": "https"}),
    ],
)
async def test_forwarded_headers_are_trusted_only_from_configured_proxies(
    monkeypatch: pytest.MonkeyPatch, trusted: str | None, client: str, expected: dict[str, Any]
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # a variable of uvicorn that Cairn ignores
    config = config_of(echo, Settings(forwarded_allow_ips=trusted))
    config.load()
    app: Any = config.loaded_app
    transport = httpx.ASGITransport(app=app, client=(client, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
        assert (await http.get("/", headers=FORWARDED)).json() == expected


def test_the_server_does_not_disclose_its_software() -> None:
    assert config_of(echo, Settings()).server_header is False


async def test_objects_that_exist_at_the_start_are_exempt_from_garbage_collection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(DRAINING, "is_on", False)  # monkeypatch resets it afterwards
    gc.unfreeze()
    before = gc.get_threshold()
    gc.set_threshold(COLLECT_EVERY)
    server = Server(config_of(echo, Settings()))
    running = asyncio.create_task(server.serve(sockets=[bind("127.0.0.1", 0)]))
    try:
        async with within("the server had not started"):
            while not server.started:
                await asyncio.sleep(0.01)
        assert gc.get_freeze_count() > 100_000
        assert len(gc.get_objects()) < 10_000
        assert gc.get_threshold()[0] < 1000
        assert gc.get_threshold()[2] > 1_000_000, "full collections run only while few requests run"
    finally:
        server.should_exit = True
        await running
        threshold_after = gc.get_threshold()
        gc.set_threshold(*before)
    assert threshold_after[0] == COLLECT_EVERY


@pytest.mark.parametrize("host", ["no-such-host.invalid", "203.0.113.7", "[::1]"])
def test_an_address_of_another_machine_is_reported_as_a_bad_setting(host: str) -> None:
    with pytest.raises(NoSuchAddress, match="CAIRN_HOST") as refused:
        bind(host, 0)
    assert refused.value.code == "BAD_SETTING"


@pytest.mark.parametrize(("host", "shown"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]")])
def test_the_local_url_has_an_address_that_a_browser_can_open(host: str, shown: str) -> None:
    with bind(host, 0) as listening:
        assert local_url(host, listening) == f"http://{shown}:{listening.getsockname()[1]}"


async def test_an_ipv4_proxy_is_trusted_on_a_dual_stack_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DRAINING, "is_on", False)
    for trusted, client in ((None, "127.0.0.1"), ("127.0.0.0/8", "203.0.113.7")):
        server = uvicorn.Server(config_of(echo, Settings(forwarded_allow_ips=trusted)))
        listening = bind("::", 0)
        running = asyncio.create_task(server.serve(sockets=[listening]))
        async with within("the server had not started"):
            while not server.started:
                await asyncio.sleep(0.01)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}") as http:
            assert (await http.get("/", headers=FORWARDED)).json()["client"] == client
        server.should_exit = True
        await running
