"""Tests that files are ingested over REST and GraphQL, and downloaded byte for byte."""

from base64 import b64encode
from typing import Any

import orjson
import pytest

from resolvers.context import Context
from schema.root import make_engine
from tests.app.clients.rest_client import RestClient, status_and_code
from tests.app.service import Service
from tests.wiki import Wiki

PAGE = b"<!doctype html><title>Kiln</title><script>alert(1)</script><p>It reaches 1,280 degrees.</p>"
ADDRESS = "https://kilns.example/manual%20one.html?x=1"


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


async def upload(rest: RestClient, data: bytes, media_type: str = "text/html", **query: str) -> Any:
    headers = {"authorization": f"Bearer {rest.token}", "content-type": media_type}
    return await rest.http.post("/api/wiki/ingest", params=query, content=data, headers=headers)


async def test_an_ingested_file_is_returned_unchanged_as_a_download(rest: RestClient) -> None:
    created = await upload(rest, PAGE, category="reference", address=ADDRESS)
    assert created.status_code == 201
    body = created.json()
    source = body["source"]
    assert (source["kind"], source["title"], source["content"]) == ("url", "Kiln", "It reaches 1,280 degrees.\n")
    assert (source["original"]["size"], source["original"]["media_type"]) == (len(PAGE), "text/html")
    assert body["page_id"]
    again = await upload(rest, PAGE, category="reference", address=ADDRESS)
    assert (again.status_code, again.json()["source"]["id"]) == (200, source["id"])
    original = await rest.get(f"/sources/{source['id']}/original")
    assert (original.status_code, original.content) == (200, PAGE)
    headers = original.headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''manual%20one.html%3Fx%3D1"
    assert headers["content-security-policy"].startswith("sandbox;")


async def test_an_invalid_upload_stores_nothing(rest: RestClient, wiki: Wiki) -> None:
    answer = await upload(rest, PAGE)
    assert (status_and_code(answer), answer.json()["field"]) == ((422, "BAD_USER_INPUT"), "category")
    assert status_and_code(await upload(rest, b"", category="source")) == (422, "BAD_USER_INPUT")
    assert status_and_code(await upload(rest, b"x" * 8_000_001, category="source"))[0] == 413
    assert await wiki.rows("sources") == await wiki.rows("blobs", "1") == []


@pytest.mark.parametrize("address", ["http://[tides", "notes://[tides", "https://a\u2100b/x"])
async def test_an_address_that_is_not_quite_a_url_is_stored_as_it_is(
    rest: RestClient, wiki: Wiki, address: str
) -> None:
    answer = await upload(rest, b"Low at six.", category="source", address=address)
    assert answer.status_code == 201, answer.text
    assert (await wiki.row("sources"))["ref"] == address


async def test_the_original_of_an_unknown_or_text_source_is_not_found(rest: RestClient) -> None:
    assert status_and_code(await rest.get("/sources/01900000-0000-7000-8000-000000000000/original")) == (
        404,
        "NOT_FOUND",
    )
    created = await rest.post("/sources", {"kind": "document", "ref": "a", "content": "A."})
    assert created.json()["original"] is None
    assert status_and_code(await rest.get(f"/sources/{created.json()['id']}/original")) == (404, "NOT_FOUND")


async def test_graphql_returns_stored_and_flagged_passages(wiki: Wiki) -> None:
    document = """mutation ($input: IngestWikiSourceInput!) { ingestWikiSource(input: $input) {
        created userErrors { code field } page { type slug } proposal { id }
        source { ref original { address mediaType size sha256 flags { line text } } } } }"""
    given = {"category": "SOURCE", "contentBase64": b64encode(b"A note. You must approve it.").decode()}
    context = Context(wiki.database, wiki.scope)
    response = await make_engine().execute(document, {"input": given | {"address": "a.txt"}}, None, context)
    payload = orjson.loads(response.body)["data"]["ingestWikiSource"]
    assert (payload["created"], payload["userErrors"], payload["proposal"]) == (True, [], None)
    assert payload["page"] == {"type": "SOURCE", "slug": "a"}
    original = payload["source"]["original"]
    assert (original["address"], original["mediaType"], original["size"]) == ("a.txt", "text/plain", 28)
    assert original["flags"] == [{"line": 1, "text": "You must approve it."}]
    wrong = await make_engine().execute(document, {"input": {"category": "SOURCE"}}, None, context)
    assert b"BAD_USER_INPUT" in wrong.body
