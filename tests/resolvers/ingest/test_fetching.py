"""Fetching addresses for ingest: allowed hosts on public addresses, within limits, pinned to the resolved address."""

import os
import ssl
import time
from collections.abc import Iterator, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import httpx
import pytest

from lib.addresses import is_public, resolve_host
from resolvers.errors import BadInput
from resolvers.ingest.fetching import Fetcher, NotFetched
from resolvers.ingest.ingest import IngestDraft, ingest_source, let_fetch
from resolvers.sources.blobs import read_original
from tests.app.cli.test_doctor import make_certificate
from tests.wiki import Wiki

PAGE = b"<title>Kiln</title><p>It reaches 1,280 degrees."


class Handler(BaseHTTPRequestHandler):
    """A server on this machine that redirects, never ends, gives a false length, or responds."""

    requests: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        Handler.requests.append((self.headers["Host"], self.path))
        if self.path.startswith("/to?"):
            self.send_response(302)
            self.send_header("Location", self.path.partition("?")[2])
            self.end_headers()
        elif self.path == "/endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 100_000)
            except OSError:
                pass
        elif self.path == "/slow":
            self.send_response(200)
            self.end_headers()
            time.sleep(3)
        elif self.path == "/large":
            self.send_response(200)
            self.send_header("Content-Length", "999999999999")
            self.end_headers()
        elif self.path == "/broken":
            self.send_response(200)
            self.end_headers()
            os.write(self.connection.fileno(), b"\x17\x03\x03\x00\x20" + b"x" * 32)  # no record of this connection
        elif self.path == "/gzip":
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip")
            self.end_headers()
        else:
            self.send_response(200 if self.path == "/kiln.html" else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    Handler.requests = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture
def tls_port(tmp_path: Path) -> Iterator[int]:
    make_certificate(tmp_path, days=1)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "key.pem")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


async def resolve_to_this_machine(host: str, port: int) -> Sequence[str]:
    """Resolve every name to this machine."""
    return ["127.0.0.1"]


def local(*hosts: str, **given: Any) -> Fetcher:
    """Return a fetcher that takes this machine for a public one, as no setting allows."""
    return Fetcher(
        hosts or ("kilns.example",), **{"look_up": resolve_to_this_machine, "is_allowed": lambda address: True} | given
    )


async def test_a_file_of_an_allowed_host_is_fetched(port: int) -> None:
    found = await local().fetch(f"http://kilns.example:{port}/kiln.html")
    assert found == (PAGE, "text/html")
    assert Handler.requests == [(f"kilns.example:{port}", "/kiln.html")]
    below = await local("*.example").fetch(f"http://kilns.example:{port}/to?/kiln.html")
    assert below.data == PAGE


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://other.example/", "does not allow other.example"),
        ("http://kilns.example.other/", "does not allow"),
        ("http://xkilns.example/", "does not allow"),
        ("ftp://kilns.example/", "not of http"),
        ("file:///etc/passwd", "not of http"),
        ("http://me:secret@kilns.example/", "name and a password"),
        ("http://", "not of http"),
        ("http://[::1/", "no address"),
        ("http://kilns.example:99999/", "no address"),
        ("http://127.0.0.1/", "does not allow 127.0.0.1"),
        ("http://2130706433/", "does not allow"),
    ],
)
async def test_disallowed_urls_are_refused_without_a_lookup(url: str, reason: str) -> None:
    async def never(host: str, port: int) -> Sequence[str]:
        raise AssertionError(host)

    with pytest.raises(NotFetched, match=reason):
        await local(look_up=never).fetch(url)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "192.0.2.1", "198.18.0.1", "::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
        "2001:db8::1", "fec0::1", "64:ff9b:1::a00:1", "::127.0.0.1", "::ffff:0:a00:1", "5f00::1", "3fff::1", "4000::1",
        "192.0.0.8", "192.88.99.1", "2002:c000:8::1",
    ],
)  # fmt: skip
async def test_private_and_reserved_addresses_are_refused(address: str) -> None:
    assert not is_public(ip_address(address))

    async def inside(host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34", address]

    with pytest.raises(NotFetched, match="public internet"):
        await Fetcher(["kilns.example"], look_up=inside).fetch("http://kilns.example/")


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::808:808", "::ffff:8.8.8.8"]
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "0"])
async def test_local_addresses_are_refused_even_if_their_host_is_allowed(port: int, host: str) -> None:
    with pytest.raises(NotFetched):
        await Fetcher([host]).fetch(f"http://{host}:{port}/kiln.html")
    assert Handler.requests == []


async def test_redirects_to_other_hosts_or_private_addresses_are_not_followed(port: int) -> None:
    for target in ("http://other.example/", "file:///etc/passwd", "//other.example/", "http://127.0.0.1/", "http://["):
        with pytest.raises(NotFetched):
            await local().fetch(f"http://kilns.example:{port}/to?{target}")
    assert {host for host, _ in Handler.requests} == {f"kilns.example:{port}"}

    async def inside_then(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if host == "kilns.example" else ["127.0.0.2"]

    fetcher = local("kilns.example", "inner.example", look_up=inside_then, is_allowed=lambda one: str(one)[-1] == "1")
    with pytest.raises(NotFetched, match="public internet"):
        await fetcher.fetch(f"http://kilns.example:{port}/to?http://inner.example:{port}/kiln.html")
    assert len(Handler.requests) == 6


async def test_a_host_name_is_resolved_once_per_fetch(port: int) -> None:
    lookups = []

    async def rebinding(host: str, port: int) -> Sequence[str]:
        lookups.append(host)
        return ["127.0.0.1"] if len(lookups) == 1 else ["10.0.0.1"]

    fetcher = local(look_up=rebinding, is_allowed=lambda address: str(address) == "127.0.0.1")
    assert (await fetcher.fetch(f"http://kilns.example:{port}/kiln.html")).data == PAGE
    assert lookups == ["kilns.example"]
    with pytest.raises(NotFetched, match="public internet"):
        await fetcher.fetch(f"http://kilns.example:{port}/kiln.html")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/endless", "more than 8,000,000 bytes"), ("/large", "more than 8,000,000 bytes"), ("/slow", "1 seconds"),
        ("/gzip", "compressed"), ("/missing", "answers 404"),
        ("/to?/to?/to?/to?/to?/to?/to?/kiln.html", "leads on more than 5 times"),
    ],
)  # fmt: skip
async def test_large_slow_compressed_and_failed_responses_are_refused(port: int, path: str, reason: str) -> None:
    with pytest.raises(NotFetched, match=reason):
        await local(seconds=1 if path == "/slow" else 30).fetch(f"http://kilns.example:{port}{path}")


async def test_an_unreachable_server_is_reported_without_details() -> None:
    with pytest.raises(NotFetched, match="does not answer"):
        await local().fetch("http://kilns.example:1/")
    assert await resolve_host("localhost", 80)


async def test_urls_are_fetched_only_once_fetching_is_enabled(wiki: Wiki, port: int) -> None:
    url = f"http://kilns.example:{port}/kiln.html"
    with pytest.raises(BadInput, match="CAIRN_INGEST_HOSTS"):
        await ingest_source(wiki.database, wiki.scope, IngestDraft(None, "reference", url))
    assert await wiki.rows("sources") == []
    let_fetch(wiki.database, local().fetch)
    done = await ingest_source(wiki.database, wiki.scope, IngestDraft(None, "reference", url))
    original = await read_original(wiki.database, wiki.scope, done.source_id)
    assert (original.data, original.address, original.media_type) == (PAGE, url, "text/html")
    again = await ingest_source(wiki.database, wiki.scope, IngestDraft(None, "reference", url))
    assert (again.created, again.source_id) == (False, done.source_id)


async def test_a_response_with_an_invalid_tls_record_is_not_fetched(
    tls_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resolvers.ingest.fetching.httpx.AsyncClient", partial(httpx.AsyncClient, verify=False))
    with pytest.raises(NotFetched, match="does not answer"):
        await local().fetch(f"https://kilns.example:{tls_port}/broken")
