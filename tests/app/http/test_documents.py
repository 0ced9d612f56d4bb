"""Documents by id: registered and trusted documents, and requests that a server with trusted documents refuses."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from hashlib import md5, sha1, sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import structlog

from app.documents.folder import DocumentsBroken, load_trusted, read_folder
from app.documents.store import Documents, Registrations
from tests.app.service import Service, serving
from tests.waiting import within
from tests.wiki import Wiki

VIEWER = "query Me { viewer { role } }"
TITLES = "query Titles($n: Int) { recentWikiPages(limit: $n) { title } }"
WRITE = 'mutation { createWikiPage(input: {type: TOPIC, title: "T"}) { created } }'
ADMIN = {"viewer": {"role": "ADMIN"}}


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def automatic(text: str, **more: Any) -> dict[str, Any]:
    return {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": digest(text)}}, **more}


async def post(service: Service, token: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    return await service.http.post("/graphql", json=body, headers={"authorization": f"Bearer {token}", **headers})


async def get(service: Service, token: str, body: dict[str, Any]) -> httpx.Response:
    params = {name: value if isinstance(value, str) else json.dumps(value) for name, value in body.items()}
    return await service.http.get("/graphql", params=params, headers={"authorization": f"Bearer {token}"})


def refusal(response: httpx.Response) -> tuple[int, str, str]:
    (error,) = response.json()["errors"]
    return response.status_code, error["extensions"]["code"], error["message"]


@pytest.mark.parametrize("ask", [post, get])
async def test_a_client_registers_a_document_once_and_then_sends_its_hash(
    service: Service, token: str, ask: Any
) -> None:
    unknown = await ask(service, token, automatic(VIEWER))
    assert refusal(unknown) == (200, "PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
    assert (await ask(service, token, automatic(VIEWER, query=VIEWER))).json()["data"] == ADMIN
    assert (await ask(service, token, automatic(VIEWER))).json()["data"] == ADMIN
    by_id = await ask(service, token, {"documentId": f"sha256:{digest(VIEWER)}"})
    assert by_id.json()["data"] == ADMIN


async def test_registered_documents_take_variables_and_may_be_mutations(service: Service, token: str) -> None:
    for text in (TITLES, WRITE):
        await post(service, token, automatic(text, query=text))
    answer = (await post(service, token, automatic(TITLES, variables={"n": 1}, operationName="Titles"))).json()
    assert answer["data"] == {"recentWikiPages": [{"title": "T"}]}
    assert (await get(service, token, automatic(WRITE))).status_code == 405
    assert (await post(service, token, automatic(WRITE))).json()["data"]["createWikiPage"]["created"] is True


async def test_a_document_is_not_registered_under_a_wrong_hash(service: Service, token: str) -> None:
    forged = await post(service, token, automatic(VIEWER, query=TITLES))
    assert refusal(forged)[:2] == (400, "PERSISTED_QUERY_HASH_MISMATCH")
    assert refusal(await post(service, token, automatic(VIEWER)))[1] == "PERSISTED_QUERY_NOT_FOUND"


async def test_a_document_registered_by_one_tenant_is_unknown_to_other_tenants(
    service: Service, token: str, dsn: str, wiki: Wiki
) -> None:
    await post(service, token, automatic(VIEWER, query=VIEWER))
    stranger = service.token(uuid4(), uuid4())
    assert refusal(await post(service, stranger, automatic(VIEWER)))[1] == "PERSISTED_QUERY_NOT_FOUND"
    assert (await service.http.post("/graphql", json=automatic(VIEWER))).status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {"extensions": {"persistedQuery": {"version": 2, "sha256Hash": "0" * 64}}},
        {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "0" * 63}}},
        {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": 7}}},
        {"extensions": {"persistedQuery": []}},
        {"extensions": {"persistedQuery": "x"}, "query": VIEWER},
        {"documentId": 7},
        {"documentId": ""},
        {"documentId": "a b"},
        {"documentId": "x" * 256},
        {"documentId": "x", "query": VIEWER},
        {"documentId": "x"},
        {"documentId": None},
        {"extensions": {"persistedQuery": None}},
        {"extensions": {"other": 1}},
        {"documentId": "x", "query": 7},
    ],
)
async def test_an_invalid_or_unknown_document_id_is_refused(service: Service, token: str, body: dict[str, Any]) -> None:
    response = await post(service, token, body)
    assert response.status_code == 400
    code, extensions = refusal(response)[1], response.json()["errors"][0]["extensions"]
    assert code in {"BAD_USER_INPUT", "BAD_REQUEST", "PERSISTED_QUERY_NOT_FOUND"}
    assert (code == "BAD_USER_INPUT") == (extensions.get("field") in {"documentId", "extensions.persistedQuery"})


async def test_persisted_queries_are_not_supported_without_registration(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, documents="any") as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)
        assert (await post(service, token, automatic(VIEWER, query=VIEWER))).json()["data"] == ADMIN
        unknown = await post(service, token, automatic(VIEWER))
        assert refusal(unknown) == (200, "PERSISTED_QUERY_NOT_SUPPORTED", "PersistedQueryNotSupported")


async def test_only_trusted_documents_are_executed(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "me.graphql").write_text(VIEWER)
    (folder / "app.json").write_text(json.dumps({sha1(TITLES.encode()).hexdigest(): TITLES}))
    async with serving(dsn, tmp_path, documents="trusted", documents_dir=folder) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)
        for body in ({"documentId": "me"}, {"documentId": f"sha256:{digest(VIEWER)}"}, {"query": VIEWER},
                     automatic(VIEWER), automatic(VIEWER, query=VIEWER)):  # fmt: skip
            assert (await post(service, token, body)).json()["data"] == ADMIN
            assert (await get(service, token, body)).json()["data"] == ADMIN
        by_sha1 = await post(service, token, {"documentId": sha1(TITLES.encode()).hexdigest(), "variables": {"n": 1}})
        assert by_sha1.json()["data"] == {"recentWikiPages": []}
        for body in ({"query": WRITE}, {"query": "{ __schema { types { name } } }"}, {"query": f"{VIEWER} "},
                     automatic(WRITE), automatic(WRITE, query=WRITE), {"documentId": "you"}):  # fmt: skip
            assert refusal(await post(service, token, body))[:2] == (403, "DOCUMENT_NOT_TRUSTED")
        assert (await post(service, "no token", {"query": WRITE})).status_code == 401
    assert await wiki.rows("pages") == []


@pytest.fixture
def ignored_hangup() -> Iterator[None]:
    """A test process that SIGHUP does not end."""
    before = signal.signal(signal.SIGHUP, lambda *_: None)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("ignored_hangup")
async def test_a_service_of_one_process_reads_its_folder_again_after_a_hangup_signal(
    dsn: str, tmp_path: Path, wiki: Wiki
) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "me.graphql").write_text(VIEWER)
    async with serving(dsn, tmp_path, documents="trusted", documents_dir=folder) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)
        (folder / "titles.graphql").write_text(TITLES)
        (folder / "me.graphql").unlink()
        signal.raise_signal(signal.SIGHUP)
        async with within("the new document was not trusted"):
            while (await post(service, token, {"documentId": "titles"})).status_code != 200:
                await asyncio.sleep(0.01)
        assert (await post(service, token, {"documentId": "me"})).status_code == 403
        (folder / "broken.json").write_text("{")
        with structlog.testing.capture_logs() as logs:
            signal.raise_signal(signal.SIGHUP)
            async with within("nothing was logged"):
                while not logs:
                    await asyncio.sleep(0.01)
        assert "broken.json" in logs[0]["reason"]
        assert (await post(service, token, {"documentId": "titles"})).status_code == 200


def test_manifests_of_all_tools_are_read(tmp_path: Path) -> None:
    (tmp_path / "ios").mkdir()
    apollo = {"format": "apollo-persisted-query-manifest", "version": 1, "operations": [
        {"id": digest(VIEWER), "name": "Me", "type": "query", "body": VIEWER}
    ]}  # fmt: skip
    (tmp_path / "ios" / "persisted-query-manifest.json").write_text(json.dumps(apollo))
    (tmp_path / "relay.json").write_text(json.dumps({md5(TITLES.encode()).hexdigest(): TITLES}))
    (tmp_path / "persisted-documents.json").write_text(json.dumps({f"sha256:{digest(VIEWER)}": VIEWER}))
    (tmp_path / f"{digest(WRITE)}.graphql").write_text(WRITE)
    (tmp_path / "README.md").write_text("no document")
    found = load_trusted(tmp_path)
    assert found == {
        digest(VIEWER): VIEWER, digest(TITLES): TITLES, md5(TITLES.encode()).hexdigest(): TITLES, digest(WRITE): WRITE,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (f"{'0' * 64}.graphql", VIEWER, f"not the text's sha256, which is {digest(VIEWER)}"),
        ("relay.json", json.dumps({"0" * 32: VIEWER}), "not the text's md5"),
        ("codegen.json", json.dumps({f"sha1:{'0' * 40}": VIEWER}), "not the text's sha1"),
        ("a.json", "{", "cannot be read"),
        ("a.json", "[]", "maps ids to documents"),
        ("a.json", json.dumps({"me": 7}), "no document under this id"),
        ("a.json", json.dumps({"m e": VIEWER}), "an id is"),
        (
            "a.json",
            json.dumps({"format": "apollo-persisted-query-manifest", "operations": 7}),
            "lacks its id or its body",
        ),
        (
            "a.json",
            json.dumps({"format": "apollo-persisted-query-manifest", "operations": [{"id": "a"}]}),
            "lacks its id",
        ),
        ("empty.graphql", " ", "no document"),
        ("latin.graphql", "\udce9", "cannot be read"),
        ("same.graphql", TITLES, "has another text under this id"),
    ],
)
def test_an_invalid_document_folder_is_refused_with_the_file_name(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / "0.json").write_text(json.dumps({"same": VIEWER}))
    (tmp_path / name).write_bytes(text.encode(errors="surrogateescape"))
    (fault,) = read_folder(tmp_path).faults
    assert words in fault.message
    with pytest.raises(DocumentsBroken, match=name):
        Documents("any", tmp_path)


def test_a_server_without_its_trusted_documents_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(DocumentsBroken, match="CAIRN_DOCUMENTS_DIR"):
        Documents("trusted")
    with pytest.raises(DocumentsBroken, match="no such folder"):
        Documents("any", tmp_path / "none")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("hidden", [".", "app"])
def test_an_unreadable_document_folder_is_an_error(tmp_path: Path, hidden: str) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / hidden).chmod(0)
    try:
        with pytest.raises(DocumentsBroken, match="cannot be read: Permission denied"):
            load_trusted(tmp_path)
    finally:
        (tmp_path / hidden).chmod(0o700)


def test_registrations_are_bounded_and_evict_the_least_recently_used() -> None:
    registrations, tenant = Registrations(max_count=3, max_size=30), uuid4()
    for name in ("a", "b", "c"):
        registrations.put(tenant, name, b"0123456789")
    assert registrations.get(tenant, "a") == "0123456789"
    registrations.put(tenant, "d", b"0123456789")
    assert [registrations.get(tenant, name) is not None for name in "abcd"] == [True, False, True, True]
    registrations.put(tenant, "e", b"x" * 25)
    assert (registrations.total_size, list(registrations.texts)) == (25, [(tenant, "e")])
    registrations.put(tenant, "huge", b"x" * 400_001)
    assert registrations.get(tenant, "huge") is None
