"""Attachments in the reader are shown in place and sent so that nothing in them is executed."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from struct import pack

import httpx
import pytest

from db.scope import Role
from tests.app.chromium import EXECUTABLE, tab
from tests.app.clients.web_client import SAME_ORIGIN, signed_in
from tests.app.service import Service, serving
from tests.app.web.test_web_in_browser import opened
from tests.app.web.test_web_journeys import Journey
from tests.resolvers.import_export.vaults import import_files
from tests.wiki import Wiki


def png(width: int, height: int) -> bytes:
    """A picture, dark in one corner and light in the other."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))

    rows = b"".join(
        b"\0" + b"".join(bytes((30 + 150 * x // width, 90 + 90 * y // height, 110)) for x in range(width))
        for y in range(height)
    )
    head = pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


SCRIPTED = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="alert(1)"><script>alert(1)</script></svg>'
)
EVIL = "x' onerror='alert(1)' & .png"
NOTE = f"""# Austin

![[Map.png|300]] and ![the river](../Files/the%20river.png), by [[plan.pdf|the plan]].

![[Drawing.svg]] ![[{EVIL}]] ![[Nothing.png]] ![" onerror="alert(1)](Map.png)
"""
VAULT: dict[str, str | bytes] = {
    ".obsidian/app.json": "{}",
    "Trips/Austin.md": NOTE,
    "Trips/Map.png": png(640, 480),
    "Files/the river.png": png(32, 16),
    "Files/plan.pdf": b"%PDF-1.7\n",
    "Files/page.txt": b"<script>alert(1)</script>",
    "Drawing.svg": SCRIPTED,
    EVIL: png(3, 3),
}


@pytest.fixture
async def vault(dsn: str, tmp_path: Path, wiki: Wiki) -> AsyncIterator[Service]:
    result = await import_files(wiki, tmp_path / "vault", VAULT)
    assert (result.attachments, result.errors, result.warnings) == (6, (), ())
    async with serving(dsn, tmp_path) as signing:
        token = signing.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.MEMBER)
    async with serving(dsn, tmp_path, local_token=token) as service:
        yield service


async def test_a_page_shows_its_pictures_and_links_its_files(vault: Service, owner: str) -> None:
    shown = (await vault.http.get(f"/wiki/{owner}/reference/austin", headers={"accept": "text/html"})).text
    files = f"/attachment/{owner}"
    assert f'<img class="attachment" src="{files}/Trips/Map.png" alt="Map.png" width="300" height="225"' in shown
    assert (
        f'<img class="attachment" src="{files}/Files/the%20river.png" alt="the river" width="32" height="16"' in shown
    )
    assert f'<a class="attachment" href="{files}/Files/plan.pdf">the plan</a>' in shown
    assert '<span class="missing" title="This file was not imported">Nothing.png</span>' in shown
    preview = await vault.http.post(f"/render/{owner}", data={"body": "![[Map.png]]"}, headers=SAME_ORIGIN)
    assert f'src="{files}/Trips/Map.png"' in preview.text


async def test_an_attachment_is_sent_byte_for_byte_with_its_content_type(vault: Service, owner: str) -> None:
    for path, data, kind, place in (
        ("Trips/Map.png", VAULT["Trips/Map.png"], "image/png", "inline"),
        ("Drawing.svg", SCRIPTED, "image/svg+xml", "inline"),
        ("Files/plan.pdf", VAULT["Files/plan.pdf"], "application/pdf", "attachment"),
        ("Files/page.txt", VAULT["Files/page.txt"], "text/plain; charset=utf-8", "attachment"),
    ):
        answer = await vault.http.get(f"/attachment/{owner}/{path}")
        assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, data, kind)
        assert answer.headers["content-disposition"].startswith(f"{place}; filename*=UTF-8''")
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"].split("; ")
        assert {"sandbox", "default-src 'none'"} <= set(policy)
        again = {"if-none-match": answer.headers["etag"]}
        assert (await vault.http.get(f"/attachment/{owner}/{path}", headers=again)).status_code == 304


@pytest.mark.parametrize("path", ["Nothing.png", "map.png", "%2e%2e/Map.png", "Trips/", ""])
async def test_a_file_that_was_not_imported_is_not_found(vault: Service, owner: str, path: str) -> None:
    answer = await vault.http.get(f"/attachment/{owner}/{path}", headers={"accept": "text/html"})
    assert answer.status_code == 404


async def test_attachments_are_not_sent_without_access_to_the_wiki(
    vault: Service, dsn: str, tmp_path: Path, wiki: Wiki, owner: str
) -> None:
    stranger = await wiki.neighbour()
    async with serving(dsn, tmp_path) as service:
        token = service.token(stranger.scope.tenant_id, stranger.scope.owner_id, Role.MEMBER)
        async with signed_in(service, token) as browser:
            assert (await browser.get(f"/attachment/{owner}/Drawing.svg")).status_code == 404
        async with httpx.AsyncClient(base_url=service.url) as signed_out:
            assert (await signed_out.get(f"/attachment/{owner}/Drawing.svg")).status_code == 303


@pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium")
async def test_pictures_cause_no_layout_shift_and_files_run_no_script(
    vault: Service, owner: str, tmp_path: Path
) -> None:
    def browse() -> None:
        with tab() as browser:
            listener = "window.ran = []; window.alert = said => ran.push(said); window.shift = 0;"
            listener += "new PerformanceObserver(list => list.getEntries().forEach(one => shift += one.value))"
            listener += ".observe({type: 'layout-shift', buffered: true});"
            browser.call("Page.addScriptToEvaluateOnNewDocument", source=listener)
            opened(browser, f"{vault.url}/wiki/{owner}/reference/austin")
            browser.run("document.querySelectorAll('article img').forEach(one => one.scrollIntoView())")
            all_complete = "[...document.querySelectorAll('article img')].every(one => one.complete)"
            browser.wait_for(all_complete)
            sizes = browser.run("[...document.querySelectorAll('article img')].map(one => one.naturalWidth)")
            assert sizes == [640, 32, 150, 3, 640]
            assert browser.run("[ran, shift]") == [[], 0]
            browser.run("scrollTo({top: 0, behavior: 'instant'})")
            Journey(browser, vault.url, owner).screenshot("attachments", (1180, 900))
            assert browser.errors() == []
            browser.open(f"{vault.url}/attachment/{owner}/Drawing.svg")
            browser.wait_for(f"location.href.endsWith({json.dumps('Drawing.svg')})")
            browser.wait_for("document.readyState === 'complete'")
            assert browser.run("window.ran ?? []") == []

    await asyncio.to_thread(browse)
