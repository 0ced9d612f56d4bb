"""Tests REST over HTTP: conditional requests, idempotency keys, errors, timeouts, limits and the contract."""

import asyncio
import io
import zipfile
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from app.rest.application import make_application
from app.rest.endpoint import PATH
from resolvers.sources.mentions import record_mention
from tests.app.clients.rest_client import RestClient, contract, status_and_code
from tests.app.service import Service, serving
from tests.waiting import within
from tests.wiki import Wiki

PAGE = {"title": "Austin", "type": "topic", "content": "Text."}
SOURCE = {"kind": "url", "ref": "a", "content": "b"}
LINE = b'{"title": "Austin", "body": "Text."}\n'
WORD = {"old_text": "Text", "new_text": "Word"}


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


def test_the_committed_contract_is_current() -> None:
    """Run `make schema` to update the committed contract."""
    assert contract() == make_application().openapi()


async def test_the_contract_is_served_without_a_credential(service: Service) -> None:
    answer = await service.http.get(f"{PATH}/openapi.json")
    assert (answer.status_code, answer.json()) == (200, contract())
    assert (await service.http.get(f"{PATH}/health")).json() == {"status": "ok"}


async def test_a_client_that_has_the_page_gets_not_modified(rest: RestClient, wiki: Wiki) -> None:
    created = await rest.post("/pages", PAGE)
    tag = created.headers["etag"]
    known = await rest.get("/pages/austin", headers={"if-none-match": f'"x", W/{tag}'})
    assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", tag)
    await rest.post("/pages", {"title": "Zilker", "type": "topic", "content": "[[Austin]]"})
    assert (await rest.get("/pages/austin", headers={"if-none-match": tag})).status_code == 304
    await wiki.connection.execute("UPDATE pages SET status = 'archived' WHERE slug = 'austin'")
    assert (await rest.get("/pages/austin?include_archived=true", headers={"if-none-match": tag})).status_code == 200
    listed = await rest.get("/pages")
    again = await rest.get("/pages", headers={"if-none-match": listed.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("change", ["/edit", "/restore", "/archive", "/unarchive", "DELETE"])
async def test_a_write_to_an_old_version_is_refused_with_the_current_one(rest: RestClient, change: str) -> None:
    old = (await rest.post("/pages", PAGE)).headers["etag"]
    new = (await rest.post("/pages/austin/edit", {"old_text": "Text", "new_text": "My Text"})).headers["etag"]
    method, path = ("DELETE", "") if change == "DELETE" else ("POST", change)
    body = {"/edit": WORD, "/restore": {"version": 1}}.get(change)
    for tag in (old, '"1"', '"never"', "*, " + old):
        stale = await rest.ask(method, f"/pages/austin{path}", json=body, headers={"if-match": tag})
        assert status_and_code(stale) == (412, "PRECONDITION_FAILED")
        assert stale.json()["current_version"] == 2
    done = await rest.ask(method, f"/pages/austin{path}", json=body, headers={"if-match": f"{old}, {new}"})
    assert done.status_code == 200


async def test_a_stale_expected_version_is_a_conflict(rest: RestClient) -> None:
    await rest.create_page("Austin")
    await rest.post("/pages/austin/edit", WORD | {"expected_version": 1})
    stale = await rest.post("/pages/austin/edit", {"old_text": "Word", "new_text": "x", "expected_version": 1})
    assert status_and_code(stale) == (409, "CONFLICT")
    assert stale.json()["current_version"] == 2
    both = await rest.post("/pages/austin/restore", {"version": 1, "expected_version": 1}, headers={"if-match": '"2"'})
    assert status_and_code(both) == (422, "BAD_USER_INPUT")
    taken = await rest.post("/pages", PAGE | {"slug": "austin"})
    assert status_and_code(taken) == (409, "SLUG_TAKEN")


async def test_of_concurrent_edits_to_a_version_only_the_first_succeeds(rest: RestClient) -> None:
    tag = (await rest.post("/pages", PAGE)).headers["etag"]
    edits = [WORD | {"new_text": f"Word {n}"} for n in range(6)]
    answers = await asyncio.gather(
        *(rest.post("/pages/austin/edit", edit, headers={"if-match": tag}) for edit in edits)
    )
    assert sorted(answer.status_code for answer in answers) == [200, *[412] * 5]
    assert (await rest.get("/pages/austin")).json()["version"] == 2


async def test_a_write_with_an_idempotency_key_is_executed_once(rest: RestClient, wiki: Wiki) -> None:
    key = {"idempotency-key": "01a2"}
    first = await rest.post("/pages", PAGE, headers=key)
    await rest.post("/pages/austin/edit", WORD)
    again = await rest.post("/pages", PAGE, headers=key)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    for name in ("location", "etag"):
        assert again.headers[name] == first.headers[name]
    assert status_and_code(await rest.post("/pages", PAGE | {"title": "B"}, headers=key)) == (
        422,
        "IDEMPOTENCY_KEY_REUSED",
    )
    assert status_and_code(await rest.post("/pages", PAGE, headers={"idempotency-key": "a b"})) == (
        422,
        "BAD_USER_INPUT",
    )
    assert len(await wiki.rows("pages")) == 1


async def test_a_failed_request_with_an_idempotency_key_can_be_retried(rest: RestClient, wiki: Wiki) -> None:
    key = {"idempotency-key": "01a3"}
    missing = await rest.post("/pages", PAGE | {"related": ["b"]}, headers=key)
    assert status_and_code(missing) == (422, "BAD_USER_INPUT")
    assert await wiki.rows("pages") == []
    await rest.create_page("B")
    created = await rest.post("/pages", PAGE | {"related": ["b"]}, headers=key)
    assert (created.status_code, created.json()["related"]) == (201, ["b"])


async def test_equal_sources_are_stored_once_listed_and_read(rest: RestClient, wiki: Wiki) -> None:
    given = {"kind": "document", "ref": "a", "content": "One.", "captured_at": "2026-01-02T03:04:05+01:00",
             "metadata": {"city": "Austin"}}  # fmt: skip
    first, again = await rest.post("/sources", given), await rest.post("/sources", given)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert first.json()["captured_at"] == "2026-01-02T02:04:05.000000Z"
    assert (await rest.get(first.headers["location"].removeprefix(PATH))).json() == first.json()
    second = await rest.post("/sources", given | {"content": "Two."})
    assert (second.status_code, second.json()["version"]) == (201, 2)
    listed = (await rest.get("/sources?kind=document&limit=1")).json()
    assert [source["version"] for source in listed["items"]] == [2]
    next_page = (await rest.get(f"/sources?kind=document&limit=1&cursor={listed['next']}")).json()
    assert [source["version"] for source in next_page["items"]] == [1]
    assert (await rest.get("/sources?kind=url")).json() == {"items": [], "next": None}
    page = (await rest.create_page("Austin"))["id"]
    assert status_and_code(await rest.get(f"/sources/{page}")) == (404, "NOT_FOUND")


async def test_a_search_finds_pages_by_their_text(rest: RestClient) -> None:
    await rest.create_page("Austin", content="Brisket is smoked here.", tags=["food"])
    await rest.create_page("Lisbon", content="No brisket at all.")
    await rest.create_page("Smoke", "concept", content="Of brisket.")
    found = (await rest.get("/search?q=brisket&type=topic&limit=1")).json()
    more = (await rest.get(f"/search?q=brisket&type=topic&limit=1&cursor={found['next']}")).json()
    assert {hit["slug"] for hit in found["items"] + more["items"]} == {"austin", "lisbon"}
    assert found["items"][0]["snippet"]["highlights"]
    assert [hit["slug"] for hit in (await rest.get("/search?q=brisket&tag=food")).json()["items"]] == ["austin"]
    for nothing in ("", "...", "%00", "%ED%A0%80"):
        assert (await rest.get(f"/search?q={nothing}")).status_code in (200, 422)


async def test_a_search_without_results_offers_mentioned_names_without_a_page(
    statements: list[str], wiki: Wiki, rest: RestClient
) -> None:
    await record_mention(wiki.database, wiki.scope, name="Chef João", source_id=await wiki.add_source())
    await rest.create_page("Lisbon", content="The records of the tavern.")
    statements.clear()
    found = (await rest.get("/search?q=who+is+chef+joao")).json()
    assert sum("FROM mentions" in sql for sql in statements) == 1
    assert (found["items"], [(mention["name"], mention["evidence"]) for mention in found["held_names"]]) == (
        [],
        [("Chef João", 1)],
    )
    assert found["held_names"][0]["missing"] == "2 more sources that say something of it"
    statements.clear()
    assert (await rest.get("/search?q=tavern")).json()["held_names"] == []
    assert not any("FROM mentions" in sql for sql in statements)


async def test_the_wiki_is_exported_as_a_zip(rest: RestClient) -> None:
    await rest.create_page("Austin")
    answer = await rest.get("/export.zip")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as files:
        assert b"Text." in files.read(next(name for name in files.namelist() if name.endswith("austin.md")))


@pytest.mark.parametrize(
    ("path", "statement_count"),
    [
        ("/pages/austin?type=topic", 1),
        ("/pages/austin", 2),
        ("/pages/austin/history", 2),
        ("/pages", 1),
        ("/sources", 1),
    ],
)
async def test_a_read_takes_one_statement_and_one_more_to_find_its_page(
    statements: list[str], rest: RestClient, path: str, statement_count: int
) -> None:
    await rest.create_page("Austin")
    await rest.get(path)
    statements.clear()
    assert (await rest.get(path)).status_code == 200
    assert len(statements) == statement_count


DEEP = b"[" * 100_000 + b"]" * 100_000
ERRORS: list[tuple[int, str, str, str, dict[str, Any]]] = [
    (400, "BAD_REQUEST", "POST", "/pages", {"content": b"{"}),
    (400, "BAD_REQUEST", "POST", "/pages", {"content": DEEP}),
    (400, "BAD_REQUEST", "POST", "/pages", {"content": b'{"title": "\\ud800"}'}),
    (400, "BAD_REQUEST", "POST", "/pages", {"content": b'{"title": "\xff"}'}),
    (400, "BAD_REQUEST", "POST", "/pages", {"content": b""}),
    (401, "UNAUTHENTICATED", "GET", "/pages", {"headers": {"authorization": "Bearer nobody"}}),
    (403, "FORBIDDEN", "GET", "/pages", {"headers": {"x-cairn-owner": "nobody"}}),
    (404, "NOT_FOUND", "GET", "/nothing", {}),
    (404, "NOT_FOUND", "GET", "/pages/", {}),
    (404, "NOT_FOUND", "GET", "/pages/nobody", {}),
    (404, "NOT_FOUND", "GET", "/pages/%00", {}),
    (404, "NOT_FOUND", "GET", "/pages/%00?type=topic", {}),
    (404, "NOT_FOUND", "GET", "/pages/%ED%A0%80", {}),
    (404, "NOT_FOUND", "GET", "/pages/a%0Ab", {}),
    (405, "METHOD_NOT_ALLOWED", "PUT", "/pages", {}),
    (413, "LIMIT_EXCEEDED", "POST", "/pages", {"content": b" " * 2_000_001}),
    (415, "UNSUPPORTED_MEDIA_TYPE", "POST", "/pages", {"headers": {"content-type": "text/plain"}}),
    (415, "UNSUPPORTED_MEDIA_TYPE", "POST", "/pages", {"json": PAGE, "headers": {"content-encoding": "gzip"}}),
    (422, "BAD_USER_INPUT", "POST", "/pages", {"json": []}),
    (422, "BAD_USER_INPUT", "POST", "/pages", {"json": PAGE | {"title": 7}}),
    (422, "BAD_USER_INPUT", "POST", "/pages", {"json": PAGE | {"title": "\0"}}),
    (422, "BAD_USER_INPUT", "POST", "/pages", {"json": PAGE | {"title": " "}}),
    (422, "BAD_USER_INPUT", "POST", "/pages", {"json": PAGE | {"slug": "Not A Slug"}}),
    (422, "BAD_USER_INPUT", "POST", "/pages", {"json": PAGE | {"type": "animal"}}),
    (422, "BAD_USER_INPUT", "POST", "/pages", {"json": PAGE | {"tags": [0] * 100_000}}),
    (422, "BAD_USER_INPUT", "POST", "/pages", {"json": PAGE | {"colour": "red"}}),
    (422, "BAD_USER_INPUT", "POST", "/pages", {"json": PAGE | {"content": "x" * 1_000_001}}),
    (422, "BAD_USER_INPUT", "POST", "/pages/nobody/restore", {"json": {"version": 2**70}}),
    (
        422,
        "BAD_USER_INPUT",
        "POST",
        "/sources",
        {"json": {"kind": "url", "ref": "a", "content": "b", "captured_at": 7}},
    ),
    (422, "BAD_USER_INPUT", "GET", "/pages?limit=101", {}),
    (422, "BAD_USER_INPUT", "GET", "/pages?cursor=x", {}),
    (422, "BAD_USER_INPUT", "GET", "/pages?tag=%00", {}),
    (422, "BAD_USER_INPUT", "GET", "/pages?type=animal", {}),
    (422, "BAD_USER_INPUT", "GET", "/search", {}),
    (422, "BAD_USER_INPUT", "GET", "/sources/7", {}),
]


async def test_each_error_has_its_status_and_code(rest: RestClient) -> None:
    for status, code, method, path, given in ERRORS:
        headers = {"content-type": "application/json"} | given.get("headers", {})
        answer = await rest.ask(method, path, **given | {"headers": headers})
        assert status_and_code(answer) == (status, code), (path, answer.text)


async def test_the_allow_header_lists_the_methods_of_a_path(service: Service) -> None:
    for path, allowed in (
        ("/pages", "GET, HEAD, POST"),
        ("/pages/a", "DELETE, GET, HEAD, PATCH"),
        ("/pages/a/edit", "POST"),
    ):
        assert (await service.http.put(PATH + path)).headers["allow"] == allowed


async def test_the_log_does_not_contain_the_slug_of_a_page(rest: RestClient, capfd: pytest.CaptureFixture[str]) -> None:
    await rest.get("/pages/secret-merger/history")
    logged = capfd.readouterr().err
    assert "/api/wiki/pages/{slug}/history" in logged
    assert "secret-merger" not in logged


async def test_a_request_without_a_credential_is_refused_before_its_body_is_read(service: Service) -> None:
    answer = await service.http.post(f"{PATH}/pages", content=b"{")
    assert status_and_code(answer) == (401, "UNAUTHENTICATED")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_validation_errors_name_their_field(rest: RestClient) -> None:
    body = (await rest.post("/pages", PAGE | {"title": 7, "tags": [""]})).json()
    assert body["field"] == "title"
    assert [fault["field"] for fault in body["errors"]] == ["title", "tags.0"]
    many = await rest.post("/pages", {str(n): n for n in range(100_000)})
    assert (many.status_code, len(many.json()["errors"])) == (422, 1)
    await rest.create_page("Austin")
    assert (await rest.post("/pages/austin/edit", WORD | {"section": "none"})).status_code in (404, 422)
    long = await rest.post("/pages/austin/edit", WORD | {"edit_summary": "\0"})
    assert (long.status_code, long.json()["field"]) == (422, "edit_summary")


async def test_a_client_over_its_limit_is_told_when_to_retry(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, credential_rate=1, credential_burst=400) as service:
        rest = RestClient(service.http, service.token(wiki.scope.tenant_id, wiki.scope.owner_id))
        answers = [await rest.get("/pages?limit=100") for _ in range(8)]
        assert status_and_code(answers[-1]) == (429, "THROTTLED")
        assert int(answers[-1].headers["retry-after"]) == answers[-1].json()["retry_after"] >= 1


async def test_a_request_that_times_out_writes_nothing(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, request_timeout=0.2) as service:
        rest = RestClient(service.http, service.token(wiki.scope.tenant_id, wiki.scope.owner_id))
        async with wiki.connection.transaction():
            await wiki.connection.execute("SELECT 1 FROM owners FOR UPDATE")
            answer = await rest.post("/pages", PAGE)
        assert (*status_and_code(answer), answer.json()["writes"]) == (504, "TIMEOUT", 0)
    assert await wiki.rows("pages") == []


async def test_imports_have_their_own_timeout(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    for times, status in (({"request_timeout": 0.2}, 200), ({"import_timeout": 0.2}, 504)):
        async with serving(dsn, tmp_path, **times) as service:
            rest = RestClient(service.http, service.token(wiki.scope.tenant_id, wiki.scope.owner_id))
            kind = {"content-type": "application/jsonl"}
            async with wiki.connection.transaction():
                await wiki.connection.execute("SELECT 1 FROM owners FOR UPDATE")
                sent = asyncio.create_task(rest.ask("POST", "/import", content=LINE, headers=kind))
                await asyncio.wait([sent], timeout=1)
            answer = await sent
            assert answer.status_code == status
        assert len(await wiki.rows("pages")) == (1 if status == 200 else 0)
        await wiki.connection.execute("DELETE FROM pages")


async def test_an_import_continues_when_its_client_is_gone(rest: RestClient, wiki: Wiki) -> None:
    kind = {"content-type": "application/jsonl"}
    async with wiki.connection.transaction():
        await wiki.connection.execute("SELECT 1 FROM owners FOR UPDATE")
        with pytest.raises(httpx.ReadTimeout):
            await rest.ask("POST", "/import", content=LINE, headers=kind, timeout=1)
    async with within("no page was imported"):
        while not await wiki.rows("pages"):
            await asyncio.sleep(0.05)
    again = (await rest.ask("POST", "/import", content=LINE, headers=kind)).json()
    assert (again["created"], again["unchanged"]) == (0, 1)


async def test_long_answers_are_compressed_for_clients_that_accept_gzip(rest: RestClient) -> None:
    await rest.create_page("Austin", content="Text. " * 1000)
    plain = await rest.get("/pages/austin", headers={"accept-encoding": "identity"})
    short = await rest.get("/pages/austin", headers={"accept-encoding": "gzip"})
    assert short.headers["content-encoding"] == "gzip"
    assert short.headers["etag"] == f"W/{plain.headers['etag']}"
    assert orjson.loads(short.content) == orjson.loads(plain.content)


async def test_health_has_no_parameters(service: Service) -> None:
    answer = await service.http.get(f"{PATH}/health?deep=1")
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, "BAD_USER_INPUT", "deep")
    assert answer.json()["detail"] == 'There is no query parameter "deep" here. This path has none.'


async def test_head_is_get_without_a_body(service: Service, token: str, rest: RestClient) -> None:
    await rest.create_page("Austin")
    bearer = {"authorization": f"Bearer {token}"}
    for path in ("/pages/austin", "/pages", "/openapi.json", "/health"):
        got = await service.http.get(PATH + path, headers=bearer)
        head = await service.http.head(PATH + path, headers=bearer)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == got.headers["content-length"]
        assert head.headers.get("etag") == got.headers.get("etag")
    assert (await service.http.head(PATH + "/pages/nobody", headers=bearer)).status_code == 404


async def test_a_timestamp_must_be_an_iso_date(rest: RestClient) -> None:
    source = {"kind": "document", "ref": "r", "content": "c"}
    for moment in ("0000", "1700000000", 1700000000, "yesterday"):
        mute = {"check": "orphan", "name": "a", "reason": "b", "until": moment}
        for field, answer in (
            ("captured_at", await rest.post("/sources", source | {"captured_at": moment})),
            ("until", await rest.post("/lint/mute", mute)),
            ("captured_after", await rest.get("/search/sources", params={"q": "c", "captured_after": moment})),
            ("captured_before", await rest.get("/search/sources", params={"q": "c", "captured_before": moment})),
            ("captured_at", await rest.post("/ingest", params={"category": "topic", "captured_at": moment})),
        ):
            assert (*status_and_code(answer), answer.json()["field"]) == (422, "BAD_USER_INPUT", field)
    assert (await rest.post("/sources", source | {"captured_at": "2026-11-20T10:00:00+01:00"})).status_code == 201
    digits = await rest.post("/sources", source | {"ref": "s", "captured_at": "20261120"})
    assert digits.json()["captured_at"] == "2026-11-20T00:00:00.000000Z"


async def test_an_invalid_if_match_header_fails_the_precondition(rest: RestClient) -> None:
    await rest.create_page("Austin")
    answer = await rest.post("/pages/austin/archive", headers={"if-match": "nonsense"})
    assert status_and_code(answer) == (412, "PRECONDITION_FAILED")
    assert "Read it" in answer.json()["detail"]
