"""Malicious requests: each gets a clear error, and the next request is served normally."""

import asyncio
import base64
import json
import threading
from typing import Any

import pytest

from selection.execute import engine
from tests.app.service import Service
from tests.wiki import Wiki

CREATE = """mutation($input: CreateWikiPageInput!) {
    createWikiPage(input: $input) { page { id } userErrors { code field message } } }"""


def codes(answer: dict[str, Any]) -> set[str]:
    return {error["extensions"]["code"] for error in answer.get("errors", [])}


async def test_a_document_over_the_length_limit_is_refused(service: Service, token: str) -> None:
    answer = await service.ask("{ viewer { role } } #" + "x" * 200_000, token)
    assert codes(answer) == {"LIMIT_EXCEEDED"}
    assert len(answer["errors"][0]["message"]) < 200


async def test_error_messages_are_limited_to_1000_characters(service: Service, token: str) -> None:
    answer = await service.ask("{ " + "n" * 90_000 + " }", token)
    assert len(answer["errors"][0]["message"]) <= 1000


@pytest.mark.parametrize(
    "query",
    [
        "{ " + "wikiTags { totalCount } " * 900 + "}",
        "{ ...A } fragment A on Query { " + " ".join(f"a{n}: viewer {{ role }}" for n in range(95)) + " }",
        "query A { viewer { role } } query B { " + "viewer { role } " * 600 + "}",
        "{ viewer { " + "scopes { nodes { " * 30 + "id" + " } }" * 30 + " } }",
        "{ ...A } fragment A on Query { ...B ...B } fragment B on Query { ...A viewer { role } }",
        "{ ...Nowhere }",
    ],
)
async def test_oversized_and_invalid_documents_are_refused(service: Service, token: str, query: str) -> None:
    response = await service.post(query, token)
    assert codes(response.json()) <= {"LIMIT_EXCEEDED", "GRAPHQL_VALIDATION_FAILED", "OPERATION_RESOLUTION_FAILURE"}
    assert codes(response.json())


async def test_plans_are_built_in_a_thread(service: Service, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    compile_operation = engine.compile_operation

    def recording(*arguments: Any) -> Any:
        threads.append(threading.current_thread().name)
        return compile_operation(*arguments)

    monkeypatch.setattr(engine, "compile_operation", recording)
    await service.ask("{ wikiPages(first: 1) { nodes { id title } } }", token)
    assert [name.rpartition("_")[0] for name in threads] == ["plans"]


@pytest.mark.parametrize(
    "extra",
    [{f"k{n}": n for n in range(64_000)}, {"extensions": {f"k{n}": n for n in range(64_000)}}, {"mine": [[]] * 64_000}],
    ids=["keys", "extensions", "values"],
)
async def test_a_request_with_many_values_besides_its_variables_is_refused(
    service: Service, token: str, extra: dict[str, Any]
) -> None:
    headers = {"authorization": f"Bearer {token}"}
    answer = await service.http.post("/graphql", json={"query": "{ viewer { role } }"} | extra, headers=headers)
    assert (answer.status_code, codes(answer.json())) == (413, {"LIMIT_EXCEEDED"})
    few = {"query": "{ viewer { role } }", "extensions": {"a": [1] * 500}, "mine": "x" * 60_000}
    assert (await service.http.post("/graphql", json=few, headers=headers)).status_code == 200


LISTS = [
    ("query($v: [ID!]!) { nodes(ids: $v) { id } }", ["x"] * 1001),
    ("query($v: [String!]!) { wikiPages(filter: {tags: $v}) { nodes { id } } }", ["x"] * 1001),
    ("query($v: [WikiPageType!]!) { wikiPages(filter: {types: $v}) { nodes { id } } }", ["TOPIC"] * 1001),
]


@pytest.mark.parametrize(("query", "value"), LISTS)
async def test_a_list_argument_has_at_most_1000_items(
    service: Service, token: str, query: str, value: list[str]
) -> None:
    assert codes(await service.ask(query, token, v=value)) == {"BAD_USER_INPUT"}
    assert codes(await service.ask(query, token, v=value[:1000])) == set()


@pytest.mark.parametrize("cursor", ["infinity", "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00", "\ud800"])
async def test_a_forged_cursor_is_refused(service: Service, token: str, cursor: str) -> None:
    text = json.dumps(["-captured_at,-id", cursor, "01234567-0000-7000-8000-000000000000"])
    after = base64.b64encode(text.encode()).decode()
    answer = await service.ask("query($c: String) { wikiSources(after: $c) { nodes { id } } }", token, c=after)
    assert codes(answer) == {"BAD_USER_INPUT"}


@pytest.mark.parametrize(
    "captured_at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "yesterday", "infinity"]
)
async def test_a_source_with_an_invalid_capture_time_is_refused(
    service: Service, token: str, wiki: Wiki, captured_at: str
) -> None:
    text = (
        "mutation($i: AddWikiSourceInput!) { addWikiSource(input: $i) { source { capturedAt } userErrors { field } } }"
    )
    source = {"kind": "URL", "ref": "d1", "content": "x", "capturedAt": captured_at}
    assert codes(await service.ask(text, token, i=source)) == {"BAD_USER_INPUT"}
    assert await wiki.rows("sources") == []


METADATA = ['"hello"', "[1, 2]", "0", "false", '{"n": 1e999}', '{"a": ' * 300 + "1" + "}" * 300]


@pytest.mark.parametrize("metadata", METADATA, ids=[str(n) for n in range(len(METADATA))])
async def test_invalid_metadata_is_refused(service: Service, token: str, wiki: Wiki, metadata: str) -> None:
    given = f'{{"type": "TOPIC", "title": "T", "metadata": {metadata}}}'
    body = f'{{"query": "{CREATE}", "variables": {{"input": {given}}}}}'
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    response = await service.http.post("/graphql", content=body.replace("\n", " "), headers=headers)
    answer = response.json()
    refused = codes(answer) or {error["code"] for error in answer["data"]["createWikiPage"]["userErrors"]}
    assert refused <= {"BAD_USER_INPUT", "BAD_REQUEST", "LIMIT_EXCEEDED"}
    assert refused
    assert await wiki.rows("pages") == []


async def test_a_title_prefix_without_letters_matches_no_page(service: Service, token: str) -> None:
    await service.ask(CREATE, token, input={"type": "TOPIC", "title": "Austin"})
    text = "query($p: String!) { wikiPages(filter: {titlePrefix: $p}) { nodes { title } } }"
    for prefix, found in (("!!!", []), ("", []), ("  ÁUS", [{"title": "Austin"}]), ("a" * 900_000, [])):
        assert (await service.ask(text, token, p=prefix))["data"]["wikiPages"]["nodes"] == found


async def test_null_in_place_of_a_required_value_is_an_input_error(service: Service, token: str) -> None:
    created = await service.ask(CREATE, token, input={"type": "TOPIC", "title": "Austin", "tags": ["city"]})
    page = created["data"]["createWikiPage"]["page"]["id"]
    text = "mutation($i: UpdateWikiPageInput!) { updateWikiPage(input: $i) { page { tags } userErrors { field } } }"
    for field in ("title", "slug", "bodyMd"):
        answer = await service.ask(text, token, i={"pageId": page, field: None})
        assert answer["data"]["updateWikiPage"]["userErrors"] == [{"field": [field]}]
    cleared = await service.ask(text, token, i={"pageId": page, "tags": None, "metadata": None})
    assert cleared["data"]["updateWikiPage"]["page"] == {"tags": []}


async def test_graph_edges_connect_only_returned_nodes(service: Service, token: str, wiki: Wiki) -> None:
    for n in range(12):
        links = " ".join(f"[[page-{m}]]" for m in range(12) if (n + m) % 3)
        await service.ask(CREATE, token, input={"type": "TOPIC", "title": f"Page {n}", "bodyMd": links})
    text = "query($t: ID!) { wikiGraph(tenantId: $t) { nodes(limit: 5) { id } edges(among: 5) { source target } } }"
    graph = (await service.ask(text, token, t=str(wiki.scope.tenant_id)))["data"]["wikiGraph"]
    shown = {node["id"] for node in graph["nodes"]}
    assert graph["edges"]
    assert {end for edge in graph["edges"] for end in edge.values()} <= shown


async def test_an_incomplete_request_body_times_out(
    service: Service, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.http.request.READ_TIMEOUT", 0.1)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(service.url.rpartition(":")[2]))
    head = f"POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: 100\r\n\r\n{{".encode())
    assert b" 408 " in await asyncio.wait_for(reader.readline(), 10)
    writer.close()
    assert (await service.http.get("/healthz")).status_code == 200
