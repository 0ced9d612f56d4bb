"""Evidence and work in the reader: a page's sources, what forgetting a source removes, and open decisions."""

import asyncio
import re

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.pages.sources import PART_MAX, split_into_parts
from db.scope import Role
from resolvers.sources.sources import cite_source
from tests.app.clients.bytes_client import connect
from tests.app.clients.web_client import SAME_ORIGIN, add_page, signed_in
from tests.app.service import Service
from tests.content.test_ingest import pdf
from tests.wiki import Wiki

TEXT = "One.\nThe pool is cold.\nThree."


async def cited(wiki: Wiki, **lines: int) -> str:
    """Return the id of a source that a section of the page `austin` cites."""
    await add_page(wiki, "Austin", "## Water\n\nCold.")
    source = await wiki.add_source(content=TEXT)
    page = await wiki.row("pages", slug="austin")
    given = {"page_id": page["id"], "section_slug": "water", "source_id": source, "summary": "How cold it is"}
    await cite_source(wiki.database, wiki.scope, **given, **lines)
    return str(source)


async def test_a_section_shows_the_cited_passage_of_its_source(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    source = await cited(wiki, line_start=2, line_end=2)
    shown = (await browser.get(f"/wiki/{owner}/topic/austin")).text
    assert "How cold it is" in shown
    assert re.findall(r"<blockquote>(.*?)</blockquote>", shown) == ["The pool is cold."]
    assert f'href="/source/{owner}/{source}?line=2#line-2"' in shown
    assert f'href="/source/{owner}/{source}#rests"' in shown


async def test_a_citation_without_lines_quotes_the_beginning_of_its_source(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    await cited(wiki)
    assert f"<blockquote>{TEXT}</blockquote>" in (await browser.get(f"/wiki/{owner}/topic/austin")).text


async def test_lines_of_a_source_are_counted_as_citations_count_them(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    """Form feeds of a PDF, and the line separators of Unicode, begin no line."""
    await add_page(wiki, "Austin", "## Water\n\nCold.")
    source = await wiki.add_source(content="One.\x0c\u2028Still one.\x85\nThe pool is cold.\nThree.")
    page = await wiki.row("pages", slug="austin")
    given = {"page_id": page["id"], "section_slug": "water", "source_id": source, "line_start": 2, "line_end": 2}
    await cite_source(wiki.database, wiki.scope, **given)
    shown = (await browser.get(f"/source/{owner}/{source}")).text
    assert re.findall(r'<li id="line-(\d+)"[^>]* class="cited"><span>(.*?)</span>', shown) == [
        ("2", "The pool is cold.")
    ]


async def test_a_link_to_a_line_of_a_long_source_opens_the_part_with_that_line(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    await add_page(wiki, "Austin", "## Water\n\nCold.")
    source = await wiki.add_source(content="\n".join(f"Line {n} of a long log. {'x' * 100}" for n in range(1, 1_001)))
    page = await wiki.row("pages", slug="austin")
    given = {"page_id": page["id"], "section_slug": "water", "source_id": source, "line_start": 900, "line_end": 901}
    await cite_source(wiki.database, wiki.scope, **given)
    (link,) = re.findall(r'href="(/source/[^"]*#line-900)"', (await browser.get(f"/wiki/{owner}/topic/austin")).text)
    assert '<li id="line-900" value="900" class="cited">' in (await browser.get(link)).text
    hits = (await browser.get(f"/sources/{owner}?q=900")).text
    found, number = re.findall(r'href="(/source/[^"]*)#line-(\d+)"', hits)[0]
    assert f'id="line-{number}"' in (await browser.get(found)).text


async def test_an_uploaded_file_is_stored_byte_for_byte_with_its_text(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    path, data = f"/add-source/{owner}", pdf("The kiln was fired twice.")
    fields = {"title": "", "kind": "DOCUMENT", "day": "2026-03-04", "content": ""}
    added = await browser.post(path, data=fields, files={"file": ("Kiln lög.pdf", data, "")}, headers=SAME_ORIGIN)
    assert added.status_code == 303
    row = await wiki.row("sources")
    assert (row["title"], row["kind"], row["captured_at"].day) == ("Kiln lög", "document", 4)
    assert "The kiln was fired twice." in row["content"]
    shown = (await browser.get(added.headers["location"])).text
    assert f'href="/original/{owner}/{row["id"]}"' in shown
    assert f"(application/pdf, {len(data):,} bytes)" in shown
    answer = await browser.get(f"/original/{owner}/{row['id']}")
    assert (answer.status_code, answer.content) == (200, data)
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''Kiln%20l%C3%B6g.pdf"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert {"sandbox", "default-src 'none'"} <= set(answer.headers["content-security-policy"].split("; "))
    corrected = await browser.post(
        path,
        data=fields | {"content": "Corrected."},
        files={"file": ("scan.pdf", b"%PDF-1.7 nothing")},
        headers=SAME_ORIGIN,
    )
    corrected_id = corrected.headers["location"].rpartition("/")[2]
    assert (await browser.get(f"/original/{owner}/{corrected_id}")).content == b"%PDF-1.7 nothing"
    assert len(await wiki.rows("blobs", "1")) == 2


async def test_a_refused_file_is_reported_and_the_form_keeps_its_values(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    fields = {"title": "Mine & yours", "kind": "DOCUMENT", "day": "", "content": ""}
    for name, data, message in (
        ("a.pdf", b"%PDF-1.7 nothing", "cannot be read"),
        ("b.exe", b"MZ\0", "is not read"),
        ("c.txt", b"", "is empty"),
    ):
        path = f"/add-source/{owner}"
        answer = await browser.post(path, data=fields, files={"file": (name, data)}, headers=SAME_ORIGIN)
        assert (answer.status_code, message in answer.text, "Mine &amp; yours" in answer.text) == (422, True, True), (
            name
        )
    assert await wiki.rows("sources") == await wiki.rows("blobs", "1") == []


async def test_file_uploads_are_refused_at_other_forms_sites_and_for_readers(
    service: Service, browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    file = {"file": ("a.txt", b"Text.")}
    fields = {"title": "A", "kind": "DOCUMENT", "day": "", "content": ""}
    assert (await browser.post(f"/new/{owner}", data=fields, files=file, headers=SAME_ORIGIN)).status_code == 415
    other = {"sec-fetch-site": "cross-site"}
    assert (await browser.post(f"/add-source/{owner}", data=fields, files=file, headers=other)).status_code == 403
    headers = SAME_ORIGIN | {"content-type": "multipart/form-data"}
    assert (await browser.post(f"/add-source/{owner}", content=b"x", headers=headers)).status_code == 400
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    async with signed_in(service, token) as reader:
        assert (
            await reader.post(f"/add-source/{owner}", data=fields, files=file, headers=SAME_ORIGIN)
        ).status_code == 403
    assert await wiki.rows("sources") == []


@pytest.mark.parametrize("path", ["/add-source/mara", "/file-text/mara", "/new/mara"])
async def test_a_form_without_a_credential_is_answered_before_its_body_arrives(service: Service, path: str) -> None:
    """Nobody without a credential makes the service hold bodies of many megabytes."""
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 1000000\r\n"
    async with connect(service) as client:
        await client.send(f"{head}Content-Type: multipart/form-data; boundary=x\r\n\r\n".encode())
        async with asyncio.timeout(10):
            status, headers, _ = await client.read_response()
    assert status == b"HTTP/1.1 303 See Other"
    assert headers["location"].startswith("/sign-in")


async def test_an_original_file_is_not_found_without_access_to_the_wiki(
    service: Service, browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    source = await wiki.add_source(content="Typed.")
    for id in (source, "x"):
        assert (await browser.get(f"/original/{owner}/{id}")).status_code == 404
    fields = {"title": "A", "kind": "DOCUMENT", "day": "", "content": ""}
    added = await browser.post(
        f"/add-source/{owner}", data=fields, files={"file": ("a.txt", b"Text.")}, headers=SAME_ORIGIN
    )
    id = added.headers["location"].rpartition("/")[2]
    stranger = await wiki.neighbour()
    token = service.token(stranger.scope.tenant_id, stranger.scope.owner_id, Role.MEMBER)
    async with signed_in(service, token) as other:
        assert (await other.get(f"/original/{owner}/{id}")).status_code == 404


async def test_sources_are_listed_searched_and_shown_with_citing_pages(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    source = await cited(wiki, line_start=2, line_end=2)
    listed = (await browser.get(f"/sources/{owner}")).text
    assert f'href="/source/{owner}/{source}"' in listed
    assert "Cited by 1 page" in listed
    assert f'href="/source/{owner}/{source}?line=' in (await browser.get(f"/sources/{owner}?q=pool")).text
    assert f'href="/source/{owner}/{source}"' not in (await browser.get(f"/sources/{owner}?kind=url")).text
    shown = (await browser.get(f"/source/{owner}/{source}")).text
    assert re.findall(r'id="line-(\d)" value="\d" class="cited"', shown) == ["2"]
    assert f'href="/wiki/{owner}/topic/austin"' in shown


async def test_a_form_adds_a_text_as_a_source(browser: httpx.AsyncClient, wiki: Wiki, owner: str) -> None:
    given = {"title": "A note", "kind": "DOCUMENT", "day": "2026-11-20", "content": "It is\r\ncold."}
    added = await browser.post(f"/add-source/{owner}", data=given, headers=SAME_ORIGIN)
    assert added.status_code == 303
    [row] = await wiki.rows("sources")
    assert (row["content"], row["title"], f"{row['captured_at']:%F}") == ("It is\ncold.", "A note", "2026-11-20")
    assert "A note" in (await browser.get(added.headers["location"])).text
    empty = await browser.post(f"/add-source/{owner}", data=given | {"content": ""}, headers=SAME_ORIGIN)
    assert (empty.status_code, 'role="alert"' in empty.text) == (422, True)


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("Kiln log.pdf", pdf("The kiln was fired twice."), "The kiln was fired twice."),
        ("tides.html", b"<h1>Tides</h1><p>Low at <b>six</b>.</p>", "# Tides\n\nLow at **six**."),
        ("note.txt", "Cold.".encode("utf-16"), "Cold."),
    ],
)
async def test_the_text_of_an_uploaded_file_is_extracted(
    browser: httpx.AsyncClient, owner: str, name: str, data: bytes, text: str
) -> None:
    read = await browser.post(f"/file-text/{owner}", params={"name": name}, content=data, headers=SAME_ORIGIN)
    assert (read.status_code, read.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert read.text == text


async def test_a_file_that_cannot_be_read_is_refused_with_the_reason(browser: httpx.AsyncClient, owner: str) -> None:
    address = f"/file-text/{owner}?name=x.pdf"
    broken = await browser.post(address, content=b"%PDF-1.7 nothing", headers=SAME_ORIGIN)
    assert (broken.status_code, broken.headers["content-type"]) == (422, "text/plain; charset=utf-8")
    assert broken.text.startswith("The file cannot be read: ")
    assert "no PDF" in broken.text
    assert (await browser.post(address, content=b"x" * 10_000_001, headers=SAME_ORIGIN)).status_code == 413
    other = {"sec-fetch-site": "cross-site"}
    assert (await browser.post(address, content=pdf("x"), headers=other)).status_code == 403


async def test_readers_cannot_extract_the_text_of_files(service: Service, wiki: Wiki, owner: str) -> None:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    async with signed_in(service, token) as reading:
        answer = await reading.post(f"/file-text/{owner}?name=x.pdf", content=pdf("x"), headers=SAME_ORIGIN)
        assert answer.status_code == 403


async def test_forgetting_a_source_first_shows_the_affected_sections(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    source = await cited(wiki)
    confirmation = (await browser.get(f"/forget/{owner}/{source}")).text
    assert "1 section without another source will be deleted" in confirmation
    assert f'href="/wiki/{owner}/topic/austin#water"' in confirmation
    assert (
        await browser.post(f"/forget/{owner}/{source}", data={"reason": "asked to"}, headers=SAME_ORIGIN)
    ).status_code == 303
    shown = (await browser.get(f"/source/{owner}/{source}")).text
    assert "This source was forgotten" in shown
    assert "The pool is cold" not in shown


async def test_members_see_the_work_page_without_jobs(
    service: Service, browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    await add_page(wiki, "Austin", "See [[Nowhere]].")
    for_admins = await browser.get(f"/work/{owner}")
    assert (for_admins.status_code, 'id="jobs"' in for_admins.text) == (200, True)
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.MEMBER)
    async with signed_in(service, token) as member:
        shown = await member.get(f"/work/{owner}")
    assert (shown.status_code, 'id="jobs"' in shown.text) == (200, False)
    assert f'href="/wiki/{owner}/topic/austin"' in shown.text


@pytest.mark.parametrize("path", ["/source/{owner}/nothing", "/forget/{owner}/nothing"])
async def test_the_error_of_a_missing_source_has_a_next_step(browser: httpx.AsyncClient, owner: str, path: str) -> None:
    answer = await browser.get(path.format(owner=owner))
    assert answer.status_code in (404, 422)
    assert "Go to the home page" in answer.text


@given(st.lists(st.text(max_size=30).map(lambda text: text * 1_500), max_size=12))
def test_the_parts_of_a_source_are_complete_and_within_the_size_limit(lines: list[str]) -> None:
    parts = split_into_parts(lines)
    assert [line for start, end in parts for line in lines[start:end]] == lines
    for start, end in parts:
        assert end - start <= 1 or sum(map(len, lines[start:end])) <= PART_MAX
