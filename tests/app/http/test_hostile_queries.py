"""Malicious queries are refused before any SQL and delay no other client."""

import asyncio
import gc
import http.client
import json
import types
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from graphql import get_introspection_query

from app import asgi
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from selection.execute import plan
from tests.app.service import Service, serving
from tests.loop_holds import heartbeat
from tests.wiki import Wiki

LONGEST = 0.25  # seconds of processor time: finds growth; `make bench-attack` measures the goal
REFUSALS = {
    "BAD_REQUEST", "BAD_USER_INPUT", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "LIMIT_EXCEEDED",
    "OPERATION_RESOLUTION_FAILURE",
}  # fmt: skip
TYPES = "query($v: [WikiPageType!]) { wikiPages(filter: {types: $v}) { nodes { id } } }"
FILTER = "query($v: WikiPageFilter) { wikiPages(filter: $v) { nodes { id } } }"
PREFIX = "query($v: String) { wikiPages(filter: {titlePrefix: $v}) { nodes { id } } }"
NODES = "query($v: [ID!]!) { nodes(ids: $v) { id } }"
CREATE = "mutation($v: CreateWikiPageInput!) { createWikiPage(input: $v) { created } }"


def nested(field: str, depth: int, leaf: str = "id") -> str:
    return f"{field} {{ nodes {{ " * depth + leaf + " } }" * depth


def exponential_fragments(width: int) -> str:
    spreads = " ".join(f"a{n}: parent {{ ...F%d }}" for n in range(width))
    parts = "".join(f"fragment F{n} on WikiPage {{ {spreads.replace('%d', str(n + 1))} }} " for n in range(25))
    return f"{{ recentWikiPages {{ ...F0 }} }} {parts} fragment F25 on WikiPage {{ id }}"


DOCUMENTS = {
    "a cycle of backlinks": f"{{ recentWikiPages {{ {nested('backlinks', 30)} }} }}",
    "a cycle of backlinks with fragments": "{ recentWikiPages { ...A } } "
    "fragment A on WikiPage { backlinks { nodes { ...B } } } fragment B on WikiPage { backlinks { nodes { ...A } } }",
    "lists in lists": f"{{ wikiPages(first: 100) {{ nodes {{ {nested('backlinks(first: 100)', 3)} }} }} }}",
    "lists in lists beside introspection": "{ __schema { queryType { name } } "
    f"wikiPages(first: 100) {{ nodes {{ {nested('backlinks(first: 100)', 3)} }} }} }}",
    "ten thousand aliases": "{" + " ".join(f"a{n}:__typename" for n in range(7000)) + "}",
    "a thousand aliases": "{" + " ".join(f"a{n}:__typename" for n in range(1000)) + "}",
    "a hundred thousand directives": "{ __typename " + "@a" * 49_000 + " }",
    "a thousand directives": "{ __typename " + "@include(if:true)" * 600 + " }",
    "the same field many times": "{ " + "wikiTags { totalCount } " * 990 + "}",
    "unknown fields": "{ " + " ".join(f"field{n}" for n in range(490)) + " }",
    "exponential fragments": exponential_fragments(2),
    "wide exponential fragments": exponential_fragments(12),
    "unused fragments": "{ __typename } " + "".join(f"fragment F{n} on WikiPage {{ id }} " for n in range(550)),
    "unused variables": "query(" + " ".join(f"$v{n}:Int" for n in range(990)) + ") { __typename }",
    "a number of ninety thousand digits": "{ wikiPages(first: " + "9" * 90_000 + ") { nodes { id } } }",
    "a fraction of ninety thousand digits": "{ wikiPages(first: 1." + "9" * 90_000 + ") { nodes { id } } }",
    "a string of ninety thousand letters as an id": '{ wikiPages(first: "' + "x" * 90_000 + '") { nodes { id } } }',
    "a word of ninety thousand letters as a choice": "{ wikiPages(orderBy: " + "x" * 90_000 + ") { nodes { id } } }",
    "a name of ninety thousand letters": "{ " + "x" * 90_000 + " }",
    "a list in a list in a list": "{ wikiPages(filter: {tags: " + "[" * 1900 + "]" * 1900 + "}) { nodes { id } } }",
    "an object in an object": "{ wikiPages(filter: " + "{tags:" * 1300 + "1" + "}" * 1300 + ") { nodes { id } } }",
    "braces": "{" * 3900,
    "brackets of a type": "query($v: " + "[" * 1900 + "Int" + "]" * 1900 + ") { __typename }",
    "a comment": "{ __typename } #" + "x" * 100_000,
    "commas": "{ __typename " + "," * 99_000 + " x }",
    "types of types": "{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }",
    "the contract many times": "{ " + " ".join(f"a{n}: __schema {{ ...T }}" for n in range(60)) + " } "
    "fragment T on __Schema { types { fields { name } } }",
    "a subscription": "subscription { wikiPages { nodes { id } } }",
}  # fmt: skip
VARIABLES: dict[str, tuple[str, Callable[[], Any]]] = {
    "a million numbers": (NODES, lambda: [0] * 900_000),
    "empty lists": (NODES, lambda: [[]] * 600_000),
    "empty objects": (NODES, lambda: [{}] * 600_000),
    "ten thousand wrong ids": (NODES, lambda: [{}] * 9_990),
    "ten thousand wrong choices": (TYPES, lambda: ["X" * 100] * 9_990),
    "a long wrong choice": (TYPES, lambda: ["x" * 1_900_000]),
    "a long unknown field": (FILTER, lambda: {"k" * 1_900_000: 1}),
    "ten thousand unknown fields": (FILTER, lambda: {f"k{n}": 1 for n in range(9_990)}),
    "a long number": (PREFIX, lambda: 10**300),
    "a text where a number goes": ("query($v: Int) { wikiPages(first: $v) { nodes { id } } }", lambda: "9" * 1_900_000),
    "a text where a moment goes": (FILTER, lambda: {"updatedSince": "2" * 1_900_000}),
    "depth": (CREATE, lambda: {"type": "TOPIC", "title": "x", "metadata": json.loads('{"a":' * 300 + "1" + "}" * 300)}),
    "metadata of many values": (
        CREATE,
        lambda: {"type": "TOPIC", "title": "x", "metadata": {"a": [{"b": n} for n in range(3_300)] * 2}},
    ),
    "metadata of one text": (CREATE, lambda: {"type": "TOPIC", "title": "x", "metadata": {"a": "x" * 1_900_000}}),
    "an undeclared variable": ("{ wikiPages(first: -1) { nodes { id } } }", lambda: [0] * 9_990),
}
SEARCH = "query($v: String!) { mobileWikiSearch(query: $v) { score } wikiSearchResults(query: $v) { totalCount } }"
SEARCHES = {
    "a word": "x" * 10_000,
    "a word of many kinds of letters": "".join(chr(0x1D71C + n % 200) for n in range(2_400)),
    "letters with accents of their own": "e\u0301" * 3_300,
    "Korean syllables in parts": "\u1112\u1161\u11ab" * 1_100,
    "a name of parts": "a." * 5_000,
    "words with signs": "C++ " * 2_500,
    "a word full of signs": "C++" * 3_300,
    "operators": "type:topic" * 1_000,
    "quotes": '"' * 10_000,
    "quotes around minus signs": '"-' * 5_000,
    "hyphens": "-" * 10_000,
    "words": "ab cd " * 1_600,
    "Chinese": "".join(chr(0x4E00 + n) for n in range(3_300)),
    "Thai": "".join(chr(0xE01 + n % 46) for n in range(3_300)),
    "spaces": " " * 9_999 + "x",
}
BODIES = {
    "half a document of braces": b'{"query": "' + b"{" * 1_900_000,
    "brackets": b"[" * 1_900_000,
    "a list of nothing": b"[" + b"[]," * 600_000 + b"[]]",
    "keys": b"{" + b",".join(b'"%d":0' % n for n in range(150_000)) + b"}",
    "a query that is a list": b'{"query": [' + b"[]," * 600_000 + b"[]]}",
    "escapes": b'{"query": "' + b"\\u00e9" * 300_000 + b'"}',
}


@pytest.fixture
async def service(
    statements: list[str], dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Service]:
    monkeypatch.setattr(asgi, "REWRITE_INTERVAL", 3600.0)  # its own statements are none of a request's
    async with serving(dsn, tmp_path) as service:
        yield service


@pytest.fixture
def token(service: Service, wiki: Wiki) -> str:
    return service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)


def post(url: str, token: str, body: bytes, path: str = "/graphql") -> Any:
    """Send the request from a separate thread, so that the event loop belongs to the service alone."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    try:
        connection.request("POST" if body else "GET", path, body, headers)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


async def assert_refused(service: Service, token: str, statements: list[str], bodies: dict[str, bytes]) -> None:
    """Assert that each body is refused without SQL and without a delay of other clients."""
    await service.ask("{ __typename }", token)
    statements.clear()
    async with heartbeat() as delays:
        for name, body in bodies.items():
            answer = await asyncio.to_thread(post, service.url, token, body)
            assert {error["extensions"]["code"] for error in answer["errors"]} <= REFUSALS, name
            assert not any((answer.get("data") or {}).values()), name
            assert len(json.dumps(answer)) < 20_000, name
            assert statements == [], name
            assert delays.longest < LONGEST, name
    assert await service.ask("{ __typename }", token) == {"data": {"__typename": "Query"}}


async def test_hostile_documents_are_refused_without_sql_or_delay(
    service: Service, token: str, statements: list[str]
) -> None:
    bodies = {name: json.dumps({"query": text}).encode() for name, text in DOCUMENTS.items()}
    await assert_refused(service, token, statements, bodies)


async def test_hostile_variables_are_refused_without_sql_or_delay(
    service: Service, token: str, statements: list[str]
) -> None:
    bodies = {
        name: json.dumps({"query": text, "variables": {"v": make()}}).encode()
        for name, (text, make) in VARIABLES.items()
    }
    await assert_refused(service, token, statements, bodies)


async def test_hostile_bodies_are_refused_without_sql_or_delay(
    service: Service, token: str, statements: list[str]
) -> None:
    await assert_refused(service, token, statements, BODIES)
    assert gc.isenabled()


async def test_hostile_query_strings_are_refused_without_sql_or_delay(
    service: Service, token: str, statements: list[str]
) -> None:
    statements.clear()
    async with heartbeat() as delays:
        for query in ("a=1&" * 12_000, "query=" + "%7B" * 16_000, "&" * 49_000, "query=" + "x" * 64_000):
            answer = await asyncio.to_thread(post, service.url, token, b"", f"/graphql?{query}")
            assert {error["extensions"]["code"] for error in answer["errors"]} <= REFUSALS
            assert delays.longest < LONGEST, query[:20]
    assert statements == []


async def test_introspection_delays_no_other_client(service: Service, token: str) -> None:
    body = json.dumps({"query": get_introspection_query()}).encode()
    async with heartbeat() as delays:
        answer = await asyncio.to_thread(post, service.url, token, body)
    assert answer["data"]["__schema"]
    assert delays.longest < LONGEST


async def test_many_concurrent_queries_do_not_block_the_event_loop(service: Service, token: str) -> None:
    names = ["ten thousand aliases", "wide exponential fragments", "unknown fields", "lists in lists"]
    bodies = [json.dumps({"query": DOCUMENTS[name]}).encode() for name in names]
    async with heartbeat() as delays:
        await asyncio.gather(*(asyncio.to_thread(post, service.url, token, body) for body in bodies * 3))
    assert delays.longest < LONGEST


async def test_expensive_search_queries_delay_no_other_client(service: Service, token: str, wiki: Wiki) -> None:
    """The queries are valid, so each is answered."""
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "A page", body="x and ab, C++ and cd."))
    async with heartbeat() as delays:
        for name, query in SEARCHES.items():
            body = json.dumps({"query": SEARCH, "variables": {"v": query}}).encode()
            answer = await asyncio.to_thread(post, service.url, token, body)
            assert "errors" not in answer, name
            assert delays.longest < LONGEST, name


async def test_refused_requests_leave_no_tracebacks_in_memory(service: Service, token: str) -> None:
    """A cached error that is raised for each request would keep the frames of all these requests."""
    depths = []
    for _ in range(3):
        for _ in range(20):
            await service.ask("{ nothing }", token)
        gc.collect()
        depths.append(sum(type(thing) is types.TracebackType for thing in gc.get_objects()))
    assert depths[2] - depths[1] < 20


async def test_a_response_over_the_size_limit_is_refused(
    dsn: str, tmp_path: Path, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds for compiled and for field-by-field execution; smaller responses are complete."""
    monkeypatch.setattr(plan, "ANSWER_MAX", 20_000)
    for number in range(3):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Page {number}", body="words " * 1_500))
    bodies = "wikiPages(first: %d) { nodes { bodyMd } }"
    async with serving(dsn, tmp_path) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)
        few = await service.ask("{ " + bodies % 2 + " }", token)
        assert [len(page["bodyMd"]) for page in few["data"]["wikiPages"]["nodes"]] == [9_000] * 2
        for document in ("{ " + bodies % 3 + " }", "{ __schema { queryType { name } } " + bodies % 3 + " }"):
            answer = await service.ask(document, token)
            assert [error["extensions"]["code"] for error in answer["errors"]] == ["LIMIT_EXCEEDED"]
            assert "This answer would have 27," in answer["errors"][0]["message"]
        assert "errors" not in await service.ask("{ viewer { role } }", token)
