"""Responses over HTTP: conditional requests, compression and clients that read slowly."""

import asyncio
import gzip
import threading
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from app.http import responses
from app.http.responses import PIECE_SIZE, accepts_gzip, etag_matches, send_pieces
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from tests.app.service import Service, serving
from tests.wiki import Wiki, close_wiki, open_wiki

TITLES = "{ recentWikiPages { title bodyMd } }"


@pytest.fixture
async def page(service: Service, token: str) -> str:
    return await write_page(service, token, "Once.")


async def write_page(service: Service, token: str, body: str) -> str:
    text = """mutation($i: UpsertWikiPageInput!) { upsertWikiPage(input: $i) { page { id } } }"""
    answer = await service.ask(text, token, i={"type": "TOPIC", "title": "T", "bodyMd": body})
    found: str = answer["data"]["upsertWikiPage"]["page"]["id"]
    return found


async def get(service: Service, token: str, query: str = TITLES, **headers: str) -> httpx.Response:
    given = {"authorization": f"Bearer {token}", "accept-encoding": "identity"} | headers
    return await service.http.get("/graphql", params={"query": query}, headers=given)


async def test_an_unchanged_response_is_not_sent_again(service: Service, token: str, page: str) -> None:
    first = await get(service, token)
    assert first.headers["cache-control"] == "private, no-cache"
    assert first.headers["vary"] == "Authorization, Accept, Accept-Encoding, X-Cairn-Owner"
    again = await get(service, token, **{"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert again.headers["cache-control"] == "private, no-cache"
    await write_page(service, token, "Twice.")
    changed = await get(service, token, **{"if-none-match": first.headers["etag"]})
    assert changed.status_code == 200
    assert "Twice." in changed.text
    assert changed.headers["etag"] != first.headers["etag"]


async def test_a_compressed_response_has_a_weak_etag_that_matches(service: Service, token: str) -> None:
    await write_page(service, token, "word " * 1000)
    whole = await get(service, token)
    small = await get(service, token, **{"accept-encoding": "gzip"})
    assert small.headers["etag"] == f"W/{whole.headers['etag']}"
    assert small.content == whole.content
    for tag in (whole.headers["etag"], small.headers["etag"], f'"other", {small.headers["etag"]}', "*"):
        for coding in ("gzip", "identity"):
            response = await get(service, token, **{"if-none-match": tag, "accept-encoding": coding})
            assert response.status_code == 304


async def test_a_conditional_request_without_a_credential_gets_401(service: Service, token: str, page: str) -> None:
    tag = (await get(service, token)).headers["etag"]
    response = await get(service, "no token", **{"if-none-match": tag})
    assert (response.status_code, response.headers["cache-control"]) == (401, "no-store")


@pytest.mark.parametrize(
    "query", ["{", "mutation { x }", 'mutation { archiveWikiPage(input: {pageId: "x"}) { changed } }']
)
async def test_error_responses_are_not_stored_by_caches(service: Service, token: str, query: str) -> None:
    response = await get(service, token, query, accept="application/graphql-response+json")
    assert response.status_code in (400, 405)
    assert (response.headers["cache-control"], "etag" in response.headers) == ("no-store", False)


async def test_post_responses_are_not_stored_and_have_no_etag(service: Service, token: str, page: str) -> None:
    tag = (await get(service, token)).headers["etag"]
    response = await service.post(TITLES, token, **{"if-none-match": tag})
    assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
    assert "etag" not in response.headers


async def test_long_responses_are_compressed_if_the_client_accepts_gzip(service: Service, token: str) -> None:
    await write_page(service, token, "word " * 1000)
    for accepted, coding in (("gzip, br", "gzip"), ("*", "gzip"), ("gzip;q=0", None), ("br", None), ("identity", None)):
        response = await service.post(TITLES, token, **{"accept-encoding": accepted})
        assert response.headers.get("content-encoding") == coding
        assert response.headers["vary"] == "Accept-Encoding"
        assert response.json()["data"]["recentWikiPages"][0]["title"] == "T"
    short = await service.post("{ viewer { role } }", token, **{"accept-encoding": "gzip"})
    assert ("content-encoding" in short.headers, "vary" in short.headers) == (False, False)


async def test_very_long_responses_are_compressed_in_a_thread(
    service: Service, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write_page(service, token, "word " * 30_000)
    threads: list[str] = []
    compress = gzip.compress

    def recording(*arguments: Any, **named: Any) -> bytes:
        threads.append(threading.current_thread().name)
        return compress(*arguments, **named)

    monkeypatch.setattr(responses.gzip, "compress", recording)
    response = await service.post(TITLES, token, **{"accept-encoding": "gzip"})
    assert response.headers["content-encoding"] == "gzip"
    assert [name.startswith("asyncio") for name in threads] == [True]


async def test_compression_can_be_switched_off(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, compress_over=0) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        await write_page(service, token, "word " * 1000)
        for response in (
            await service.post(TITLES, token, **{"accept-encoding": "gzip"}),
            await get(service, token, **{"accept-encoding": "gzip"}),
        ):
            assert "content-encoding" not in response.headers


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        (None, False), ("", False), ("gzip", True), ("GZIP ; q=0.5", True), ("gzip;q=0", False), ("gzip;q=0.0", False),
        ("*", True), ("*;q=0", False), ("gzip;q=0, *", False), ("deflate, gzip;q=1.0, *;q=0.5", True),
        ("gzip;q=much", False), (";;,,", False),
    ],
)  # fmt: skip
def test_accept_encoding_decides_whether_gzip_is_accepted(accepted: str | None, taken: bool) -> None:
    assert accepts_gzip(accepted) is taken


@pytest.mark.parametrize(
    ("given", "same"),
    [(None, False), ("", False), ('"a"', True), ('W/"a"', True), ('"b", W/"a"', True), ('"b"', False), ("*", True)],
)
def test_if_none_match_is_compared_with_the_etag(given: str | None, same: bool) -> None:
    assert etag_matches(given, '"a"') is same


# -- clients that read slowly


async def test_a_large_response_is_sent_completely_in_pieces() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    body = bytes(range(256)) * 4_000
    await send_pieces(send, body)
    assert b"".join(message["body"] for message in sent) == body
    assert [message["more_body"] for message in sent] == [True, True, True, False]
    assert max(len(message["body"]) for message in sent) <= PIECE_SIZE


async def test_sending_to_a_client_that_reads_nothing_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "PIECE_TIMEOUT", 0.05)
    with pytest.raises(TimeoutError):
        await send_pieces(lambda message: asyncio.sleep(60), b"x" * (PIECE_SIZE + 1))


async def test_unread_responses_of_one_tenant_do_not_block_other_tenants(
    service: Service, wiki: Wiki, token: str, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responses, "UNREAD_MAX", 10_000_000)
    stranger = await open_wiki(dsn)
    for number in range(10):
        draft = PageDraft("topic", f"Large {number}", body="water " * 150_000)
        await create_page(wiki.database, wiki.scope, draft)
    await create_page(stranger.database, stranger.scope, PageDraft("topic", "Large", body="water " * 150_000))
    query = "{ wikiPages(first: 10) { nodes { bodyMd } } }"
    body = orjson.dumps({"query": query})
    host, _, port = service.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1000)
    head = (
        "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await reader.readuntil(b"\r\n")
    answer = await service.post(query, token)
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (429, "THROTTLED")
    other = service.token(stranger.scope.tenant_id, stranger.scope.owner_id)
    for credential, document in ((token, "{ viewer { role } }"), (other, query)):
        assert (await service.post(document, credential)).status_code == 200
    writer.transport.abort()
    await close_wiki(stranger)
