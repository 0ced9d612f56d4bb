"""Tests the import and export of notes over REST: reports, limits and refused uploads."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import orjson
import pytest

from app.rest.routes import imports
from content.notes.note_texts import to_markdown
from content.notes.notes import Note
from db.scope import Role
from tests.app.clients.rest_client import RestClient, status_and_code
from tests.app.service import Service, serving
from tests.waiting import within
from tests.wiki import Wiki, check_derived_rows, close_wiki, open_wiki

ZIP = {"content-type": "application/zip"}
NOTES = {"A.md": "See [[B]].", "folder/B.md": "---\ntags: [x]\n---\nText.", "../out.md": "Out."}


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


def zipped(notes: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in notes.items():
            archive.writestr(path, text)
    return file.getvalue()


async def test_a_zip_is_imported_as_pages_and_importing_it_again_changes_nothing(rest: RestClient, wiki: Wiki) -> None:
    answer = await rest.ask("POST", "/import", content=zipped(NOTES), headers=ZIP)
    report = answer.json()
    assert answer.status_code == 200
    assert (report["created"], report["links"], report["broken_links"]) == (2, 1, 0)
    assert [(error["path"], error["code"]) for error in report["errors"]] == [("../out.md", "BAD_USER_INPUT")]
    assert (await rest.get("/pages/b")).json()["tags"] == ["x"]
    again = (await rest.ask("POST", "/import", content=zipped(NOTES), headers=ZIP)).json()
    assert (again["created"], again["changed"], again["unchanged"]) == (0, 0, 2)
    await check_derived_rows(wiki)


async def test_importing_an_export_into_its_own_wiki_creates_no_page(rest: RestClient) -> None:
    await rest.create_page("Austin", content="Hot. [[Bats]]", tags=["us"])
    exported = (await rest.get("/export.zip")).content
    await rest.ask("DELETE", "/pages/austin")
    report = (await rest.ask("POST", "/import", content=exported, headers=ZIP)).json()
    assert (report["created"], report["failed"]) == (0, 0)
    assert (await rest.get("/export.zip")).status_code == 200


async def test_an_export_reports_an_unwritable_page_and_contains_the_rest(
    rest: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(note: Note) -> str:
        if note.title == "Austin":
            raise ValueError("it is too hot")
        return to_markdown(note)

    for title in ("Austin", "Boston"):
        await rest.create_page(title)
    monkeypatch.setattr("resolvers.import_export.disk.targets.to_markdown", failing)
    answer = await rest.get("/export.zip")
    assert (answer.status_code, answer.headers["x-cairn-export-missing"]) == (207, "1")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as zip:
        assert set(zip.namelist()) == {".cairn/wiki.json", ".cairn/errors.jsonl", "topic/boston.md"}
        error = orjson.loads(zip.read(".cairn/errors.jsonl"))
    assert (error["path"], error["code"]) == ("topic/austin.md", "UNWRITABLE")
    assert "it is too hot" in error["message"]


async def test_json_lines_are_imported(rest: RestClient) -> None:
    lines = b'{"title": "Austin", "body": "Hot."}\n{"title": 7}\n'
    for kind in ("application/jsonl", "application/x-ndjson; charset=utf-8"):
        report = (await rest.ask("POST", "/import", content=lines, headers={"content-type": kind})).json()
        assert (report["created"] + report["unchanged"], report["failed"]) == (1, 1)


async def test_a_file_that_is_not_a_zip_is_refused(rest: RestClient) -> None:
    for content in (b"", b"PK", b"\xff" * 1000, zipped({"A.md": "x"})[:-30]):
        answer = await rest.ask("POST", "/import", content=content, headers=ZIP)
        assert status_and_code(answer) == (422, "BAD_USER_INPUT")
    assert not imports.running_imports


async def test_imports_of_other_media_types_or_by_readers_are_refused(
    rest: RestClient, service: Service, wiki: Wiki
) -> None:
    for kind in ({}, {"content-type": "text/markdown"}):
        answer = await rest.ask("POST", "/import", content=b"# A", headers=kind)
        assert status_and_code(answer) == (415, "UNSUPPORTED_MEDIA_TYPE")
    packed = {"content-type": "application/jsonl", "content-encoding": "gzip"}
    answer = await rest.ask("POST", "/import", content=b"\x1f\x8b", headers=packed)
    assert status_and_code(answer) == (415, "UNSUPPORTED_MEDIA_TYPE")
    reader = RestClient(service.http, service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER))
    assert status_and_code(await reader.ask("POST", "/import", content=zipped(NOTES), headers=ZIP)) == (
        403,
        "FORBIDDEN",
    )


async def test_the_size_of_an_upload_and_of_its_unpacked_files_is_limited(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    async with serving(dsn, tmp_path, max_import=10_000) as service:
        rest = RestClient(service.http, service.token(wiki.scope.tenant_id, wiki.scope.owner_id))
        for content in (b"x" * 10_001, zipped({f"{n}.md": "x" * 90_000 for n in range(9)})):
            answer = await rest.ask("POST", "/import", content=content, headers=ZIP)
            assert status_and_code(answer) == (413, "LIMIT_EXCEEDED")
    assert await wiki.rows("pages") == []


async def test_concurrent_imports_of_a_tenant_are_limited(rest: RestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "IMPORTS_PER_TENANT", 0)
    answer = await rest.ask("POST", "/import", content=zipped(NOTES), headers=ZIP)
    assert (*status_and_code(answer), answer.headers["retry-after"]) == (503, "UNAVAILABLE", "1")


async def test_slow_uploads_do_not_block_imports_of_other_tenants(
    service: Service, wiki: Wiki, dsn: str, rest: RestClient
) -> None:
    stranger, coming = await open_wiki(dsn), asyncio.Event()
    other = RestClient(service.http, service.token(stranger.scope.tenant_id, stranger.scope.owner_id))

    async def trickle() -> AsyncIterator[bytes]:
        yield b'{"title": "Austin", '
        await coming.wait()
        yield b'"body": "Hot."}'

    kind = {"content-type": "application/jsonl"}
    uploads = [
        asyncio.create_task(rest.ask("POST", "/import", content=trickle(), headers=kind))
        for _ in range(imports.IMPORTS_PER_TENANT)
    ]
    async with within("the imports had not begun"):
        while imports.running_imports[wiki.scope.tenant_id] < imports.IMPORTS_PER_TENANT:
            await asyncio.sleep(0.01)
    answer = await rest.ask("POST", "/import", content=zipped(NOTES), headers=ZIP)
    assert status_and_code(answer) == (503, "UNAVAILABLE")
    answer = await other.ask("POST", "/import", content=zipped(NOTES), headers=ZIP)
    assert answer.status_code == 200, answer.text
    coming.set()
    assert {(await upload).status_code for upload in uploads} == {200}
    assert not imports.running_imports
    await close_wiki(stranger)


HOSTILE = {
    "not a zip": b"PK no",
    "truncated": zipped({"a.md": "A."})[:-30],
    "zip bomb": zipped({"bomb.md": "x" * 10_000_000, "good.md": "Good."}),
    "path traversal": zipped({"../../out.md": "Out.", ".cairn/history/../../out.jsonl": "{}", "good.md": "Good."}),
    "unknown compression method": zipped({"a.md": "A." * 50}).replace(
        b"\x14\x00\x00\x00\x08\x00", b"\x14\x00\x00\x00\x63\x00"
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_malicious_zip_is_reported_and_harms_nothing(rest: RestClient, wiki: Wiki, name: str) -> None:
    answer = await rest.ask("POST", "/import", content=HOSTILE[name], headers=ZIP)
    assert answer.status_code in (200, 422)
    if answer.status_code == 200:
        assert answer.json()["errors"]
    assert {page["title"] for page in await wiki.rows("pages")} <= {"good"}
    await check_derived_rows(wiki)


async def test_an_export_contains_page_history_on_request(rest: RestClient) -> None:
    await rest.create_page("Austin", content="Hot.")
    without_history, with_history = [
        zipfile.ZipFile(io.BytesIO((await rest.get(f"/export.zip{query}")).content)).namelist()
        for query in ("", "?history=true")
    ]
    assert [name for name in with_history if name not in without_history] == [
        name for name in with_history if name.startswith(".cairn/history/")
    ]
    assert len(with_history) == len(without_history) + 1


async def test_an_import_reports_its_format_skipped_files_and_warnings(rest: RestClient) -> None:
    page = "A page 0123456789abcdef0123456789abcdef"
    archive = zipped({f"{page}.md": "# A page\n\nText.", f"{page}/oven.png": "PNG", "Tasks.csv": "Name\n"})
    report = (await rest.ask("POST", "/import", content=archive, headers=ZIP)).json()
    assert (report["format"], report["left_out"], report["attachments"]) == ("notion", {".csv": 1}, 1)
    assert (await rest.get("/pages/a-page")).json()["title"] == "A page"
    broken = zipped({"A.md": "---\nparent: Nowhere\n---\nA."})
    report = (await rest.ask("POST", "/import?format=obsidian", content=broken, headers=ZIP)).json()
    assert (report["format"], report["errors"]) == ("obsidian", [])
    assert [(warning["path"], warning["code"]) for warning in report["warnings"]] == [("A.md", "BROKEN_RELATION")]
    answer = await rest.ask("POST", "/import?format=roam", content=broken, headers=ZIP)
    assert answer.status_code == 422
