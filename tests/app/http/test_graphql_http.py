"""GraphQL over HTTP: which requests are accepted, and the errors of those that are not."""

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import httpx
import jwt
import pytest
from graphql import build_client_schema, get_introspection_query

from resolvers.auth.credentials import secret_key
from schema.root import GRAPHQL
from tests.app.service import SECRET, Service, serving
from tests.wiki import Wiki

VIEWER = "{ viewer { role owner { id } } }"
CREATE = """mutation($input: CreateWikiPageInput!) {
    createWikiPage(input: $input) { page { id title slug version } userErrors { field code } }
}"""
GRAPHQL_JSON = "application/graphql-response+json"


async def test_a_post_request_returns_data(service: Service, token: str, wiki: Wiki) -> None:
    response = await service.post(VIEWER, token)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert response.json()["data"] == {"viewer": {"role": "ADMIN", "owner": {"id": str(wiki.scope.owner_id)}}}


async def test_get_requests_run_queries_but_no_mutations(service: Service, token: str) -> None:
    headers = {"authorization": f"Bearer {token}"}
    response = await service.http.get("/graphql", params={"query": VIEWER}, headers=headers)
    assert response.json()["data"]["viewer"]["role"] == "ADMIN"
    text = 'mutation { createWikiPage(input: {type: TOPIC, title: "T"}) { created } }'
    response = await service.http.get("/graphql", params={"query": text}, headers=headers)
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, POST"


async def test_get_and_post_take_variables_and_an_operation_name(service: Service, token: str) -> None:
    text = "query A($n: Int) { recentWikiPages(limit: $n) { id } } query B { viewer { role } }"
    headers = {"authorization": f"Bearer {token}"}
    params = {"query": text, "variables": '{"n": 3}', "operationName": "A"}
    answer = (await service.http.get("/graphql", params=params, headers=headers)).json()
    assert answer["data"] == {"recentWikiPages": []}
    body = {"query": text, "operationName": "B"}
    response = await service.http.post("/graphql", json=body, headers=headers)
    assert response.json()["data"]["viewer"]["role"] == "ADMIN"


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer x.y.z", "Basic abc", "Bearer cairn_nokey", "é"])
async def test_requests_without_a_valid_credential_are_refused(service: Service, authorization: str | None) -> None:
    headers = {} if authorization is None else {"authorization": authorization.encode()}
    response = await service.http.post("/graphql", json={"query": "{ __typename }"}, headers=headers)  # type: ignore[arg-type]
    assert response.status_code == 401
    challenge = response.headers["www-authenticate"]
    assert challenge.startswith('Bearer realm="cairn"')
    assert ('error="invalid_token"' in challenge) is bool(authorization)
    assert response.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
    assert "data" not in response.json()


async def test_a_header_chooses_another_wiki(service: Service, wiki: Wiki, token: str) -> None:
    other = await wiki.neighbour()
    response = await service.post(VIEWER, token, **{"x-cairn-owner": str(other.scope.owner_id)})
    assert response.json()["data"]["viewer"]["owner"]["id"] == str(other.scope.owner_id)
    response = await service.post(VIEWER, token, **{"x-cairn-owner": "01234567-0000-7000-8000-000000000000"})
    assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (403, "FORBIDDEN")


BAD_BODIES: list[tuple[bytes, str, int]] = [
    (b"", "application/json", 400),
    (b"{", "application/json", 400),
    (b"[]", "application/json", 400),
    (b'"x"', "application/json", 400),
    (b"{}", "application/json", 400),
    (b'{"query": 7}', "application/json", 400),
    (b'{"query": ""}', "application/json", 400),
    (b'{"query": "{ __typename }", "variables": []}', "application/json", 400),
    (b'{"query": "{ __typename }", "extensions": 1}', "application/json", 400),
    (b'{"query": "{ __typename }", "operationName": {}}', "application/json", 400),
    (b'{"query": "\xff"}', "application/json", 400),
    (b'{"query": "{ __typename }"}', "text/plain", 415),
    (b'{"query": "{ __typename }"}', "application/json; charset=latin-1", 415),
    (b"[" * 100_000, "application/json", 400),
    (b" " * 2_000_001, "application/json", 413),
]


async def test_a_compressed_request_body_is_refused(service: Service, token: str) -> None:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json", "content-encoding": "gzip"}
    packed = gzip.compress(b'{"query": "{ __typename }"}')
    response = await service.http.post("/graphql", content=packed, headers=headers)
    assert response.status_code == 415
    assert "Content-Encoding" in response.json()["errors"][0]["message"]


@pytest.mark.parametrize(("body", "kind", "status"), BAD_BODIES, ids=[str(n) for n in range(len(BAD_BODIES))])
async def test_an_invalid_request_body_is_refused_with_its_status(
    service: Service, token: str, body: bytes, kind: str, status: int
) -> None:
    headers = {"authorization": f"Bearer {token}", "content-type": kind}
    response = await service.http.post("/graphql", content=body, headers=headers)
    assert response.status_code == status
    assert response.json()["errors"][0]["message"]
    assert (await service.post(VIEWER, token)).status_code == 200


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("{ nothingLikeThat }", "GRAPHQL_VALIDATION_FAILED"),
        ("query A { __typename } query B { __typename }", "OPERATION_RESOLUTION_FAILURE"),
        ("query($n: Int!) { recentWikiPages(limit: $n) { id } }", "BAD_USER_INPUT"),
        ("subscription { x }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ " + "a: viewer { role } " * 101 + "}", "LIMIT_EXCEEDED"),
        ("{ " * 200 + "}" * 200, "GRAPHQL_PARSE_FAILED"),
        ("{ " + " ".join(f"a{n}: __typename" for n in range(3000)) + " }", "LIMIT_EXCEEDED"),
    ],
)
async def test_a_document_that_cannot_run_has_its_error_code(
    service: Service, token: str, query: str, code: str
) -> None:
    old = await service.post(query, token)
    new = await service.post(query, token, accept=GRAPHQL_JSON)
    assert (old.status_code, new.status_code) == (200, 400)
    for response in (old, new):
        errors = response.json()["errors"]
        assert {error["extensions"]["code"] for error in errors} == {code}
        assert "data" not in response.json()


async def test_the_response_type_follows_the_accept_header(service: Service, token: str) -> None:
    for accept, kind in (
        (GRAPHQL_JSON, GRAPHQL_JSON),
        ("*/*", "application/json"),
        ("*", "application/json"),
        (f"{GRAPHQL_JSON};q=0, */*", "application/json"),
        (f"text/html, {GRAPHQL_JSON};q=0.5", GRAPHQL_JSON),
    ):
        response = await service.post(VIEWER, token, accept=accept)
        assert response.headers["content-type"].startswith(kind)
    for accept in ("text/html", f"{GRAPHQL_JSON};q=0, text/html", "application/json; charset=utf-8; q=0.0"):
        assert (await service.post(VIEWER, token, accept=accept)).status_code == 406


async def test_several_accept_headers_are_combined(service: Service, token: str) -> None:
    several = [("accept", "text/html"), ("accept", GRAPHQL_JSON), ("authorization", f"Bearer {token}")]
    response = await service.http.post("/graphql", json={"query": VIEWER}, headers=several)
    assert (response.status_code, response.headers["content-type"].startswith(GRAPHQL_JSON)) == (200, True)


async def test_expensive_queries_and_fragment_cycles_are_refused(service: Service, token: str) -> None:
    deep = "backlinks(first: 100) { nodes { " * 5 + "id" + " } }" * 5
    answer = await service.ask(f"{{ recentWikiPages(limit: 100) {{ {deep} }} }}", token)
    assert answer["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
    parts = "fragment A on WikiPage { parent { ...B } } fragment B on WikiPage { parent { ...A } }"
    cycle = "{ recentWikiPages { ...A } }" + parts
    answer = await service.ask(cycle, token)
    assert answer["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"


async def test_exponential_fragment_spreads_are_refused(service: Service, token: str) -> None:
    bomb = "".join(f"fragment F{n} on WikiPage {{ ...F{n + 1} a: parent {{ ...F{n + 1} }} }} " for n in range(40))
    answer = await service.ask(f"{{ recentWikiPages {{ ...F0 }} }} {bomb} fragment F40 on WikiPage {{ id }}", token)
    assert answer["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"


async def test_a_page_is_written_and_read_back(service: Service, token: str) -> None:
    created = (await service.ask(CREATE, token, input={"type": "TOPIC", "title": "Café №1"}))["data"]["createWikiPage"]
    assert created["page"] | {"id": None} == {"id": None, "title": "Café №1", "slug": "cafe-no1", "version": 1}
    again = await service.ask(
        "query($id: ID!) { node(id: $id) { ... on WikiPage { title } } }", token, id=created["page"]["id"]
    )
    assert again == {"data": {"node": {"title": "Café №1"}}}


async def test_input_errors_are_returned_as_user_errors(service: Service, token: str) -> None:
    answer = await service.ask(CREATE, token, input={"type": "TOPIC", "title": "  "})
    assert answer["data"]["createWikiPage"]["userErrors"] == [{"field": ["title"], "code": "BAD_USER_INPUT"}]
    assert answer["data"]["createWikiPage"]["page"] is None


async def test_readers_cannot_write(service: Service, wiki: Wiki) -> None:
    from db.scope import Role

    reader = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    answer = await service.ask(CREATE, reader, input={"type": "TOPIC", "title": "T"})
    assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert await wiki.rows("pages") == []


async def test_an_expired_token_is_distinguished_from_a_malformed_one(service: Service, wiki: Wiki) -> None:
    claims = {"tenant": str(wiki.scope.tenant_id), "owner": str(wiki.scope.owner_id), "role": "member", "exp": 1}
    expired = jwt.encode(claims, secret_key(SECRET).key, algorithm="HS256")
    for path in ("/graphql", "/api/wiki/pages", "/mcp"):
        challenges = []
        for token in (expired, "x.y.z"):
            response = await service.http.post(path, json={}, headers={"authorization": f"Bearer {token}"})
            assert response.status_code == 401
            challenges.append(response.headers["www-authenticate"])
        start = 'Bearer realm="cairn", error="invalid_token", error_description='
        assert challenges == [f'{start}"The token has expired."', f'{start}"The token is malformed."']


async def test_every_answer_carries_a_request_id(service: Service, token: str) -> None:
    response = await service.post(VIEWER, token, **{"x-request-id": "my-own-1"})
    assert response.headers["x-request-id"] == "my-own-1"
    response = await service.post(VIEWER, token, **{"x-request-id": "not one\x01"[:7]})
    assert len(response.headers["x-request-id"]) == 32


async def test_health_is_reported_without_a_credential(service: Service) -> None:
    for path in ("/healthz", "/readyz"):
        assert (await service.http.get(path)).json() == {"status": "ok"}


@pytest.mark.parametrize("text", ["\\u0000", "\\ud800", "a\\u0000b"])
async def test_text_that_postgres_cannot_store_is_no_internal_error(service: Service, token: str, text: str) -> None:
    for query in ("query($q: String!) { mobileWikiSearch(query: $q) { score } }",
                  "query($q: String!) { wikiSource(kind: URL, ref: $q) { id } }",
                  "query($q: String!) { wikiPages(filter: {titlePrefix: $q}) { nodes { id } } }"):  # fmt: skip
        body = json.dumps({"query": query, "variables": {"q": "X"}}).replace('"X"', f'"{text}"')
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        response = await service.http.post("/graphql", content=body, headers=headers)
        codes = [error["extensions"]["code"] for error in response.json().get("errors", [])]
        assert "INTERNAL_SERVER_ERROR" not in codes
        assert response.status_code in (200, 400)


def test_internal_errors_hide_their_message_from_clients() -> None:
    from graphql import GraphQLError

    from schema.errors import format_error

    error: Any = GraphQLError("password=hunter2", original_error=RuntimeError("password=hunter2"))
    assert "hunter2" not in json.dumps(format_error(error))
    assert format_error(error)["extensions"]["code"] == "INTERNAL_SERVER_ERROR"


async def test_a_statement_over_its_timeout_is_stopped_and_reported(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    """Another transaction locks the table; once the lock is released, the service answers normally."""
    async with serving(dsn, tmp_path, statement_timeout=0.2) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        async with wiki.connection.transaction():
            await wiki.connection.execute("LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
            answer = await service.ask("{ recentWikiPages { id } }", token)
            assert answer["errors"][0]["extensions"]["code"] == "TIMEOUT"
        while "errors" in answer:  # a busy machine may take as long once more
            answer = await service.ask("{ recentWikiPages { id } }", token)
        assert answer == {"data": {"recentWikiPages": []}}


BLOCKED = (
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = $1)"
)


def assert_unavailable(response: httpx.Response) -> None:
    """Assert that a response is a 503 with the code UNAVAILABLE and a Retry-After header."""
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert response.json()["data"] is None
    assert response.json()["errors"][0]["extensions"]["code"] == "UNAVAILABLE"


async def test_requests_beyond_the_connection_queue_are_refused_at_once(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    """Every connection is held by a read that waits for a lock, and the queue has no place."""
    read, name = "{ recentWikiPages { id } }", urlsplit(dsn).path.strip("/")
    async with serving(dsn, tmp_path, pool_queue=0) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        async with wiki.connection.transaction():
            await wiki.connection.execute("LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
            reads: list[asyncio.Task[Any]] = []
            while (blocked := await wiki.connection.fetchval(BLOCKED, name)) < 4:
                reads = [task for task in reads if not task.done()]  # the service's own upkeep may have been first
                if len(reads) == blocked:
                    reads.append(asyncio.create_task(service.ask(read, token)))
                await asyncio.sleep(0.01)
            assert_unavailable(await service.post(read, token))
        assert await asyncio.gather(*reads) == [{"data": {"recentWikiPages": []}}] * 4


async def test_a_lost_database_is_reported_and_used_again_after_its_return(
    server_dsn: str, dsn: str, service: Service, token: str
) -> None:
    name = urlsplit(dsn).path.strip("/")
    operator = await asyncpg.connect(server_dsn)
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    await operator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
    assert_unavailable(await service.post("{ recentWikiPages { id } }", token))
    assert (await service.http.get("/readyz")).status_code == 503
    await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert await service.ask("{ recentWikiPages { id } }", token) == {"data": {"recentWikiPages": []}}
    await operator.close()


async def test_introspection_returns_the_whole_schema(service: Service, token: str) -> None:
    text = get_introspection_query(specified_by_url=True, directive_is_repeatable=True, input_value_deprecation=True)
    answer = await service.ask(text, token)
    built = build_client_schema(answer["data"])
    assert set(built.type_map) == set(GRAPHQL.type_map)
