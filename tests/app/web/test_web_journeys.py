"""Journeys through a whole wiki in a real browser: an imported vault, and the wiki of the demo.

If CAIRN_SCREENSHOTS names a folder, as in `make screenshots`, the pictures of the pages are stored there.
"""

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from app.cli.demo_wikis import load_sample
from db.scope import Role
from tests.app.chromium import EXECUTABLE, Tab, tab
from tests.app.clients.web_client import SAME_ORIGIN, signed_in
from tests.app.service import Service, serving
from tests.app.web.test_web_in_browser import opened, pressed, typed
from tests.app.web.test_web_writing import form_of
from tests.content.notes.test_vault import VAULT
from tests.resolvers.import_export.vaults import run_import
from tests.wiki import Wiki

needs_browser = pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium")
needs_vault = pytest.mark.skipif(not VAULT.is_dir(), reason="the vault of Obsidian's documentation is not here")
SCREENSHOTS = os.environ.get("CAIRN_SCREENSHOTS")
WIDE, PHONE = (1180, 800), (390, 780)


@dataclass
class Journey:
    """A person at a browser, signed in to a wiki."""

    browser: Tab
    url: str
    owner: str

    def open(self, path: str) -> None:
        opened(self.browser, f"{self.url}/{path}")

    def click(self, selector: str, path: str) -> None:
        """Click, and wait for the page that this leads to."""
        self.browser.run(f"document.querySelector({selector!r}).click()")
        self.browser.wait_for(f"location.pathname.startsWith({path!r}) && document.readyState === 'complete'")
        self.browser.wait_for("!!window.cairn")

    def text(self, selector: str = "main") -> str:
        return str(self.browser.run(f"document.querySelector({selector!r}).textContent"))

    def screenshot(self, name: str, size: tuple[int, int] = WIDE, scheme: str = "light") -> None:
        """Store a screenshot if CAIRN_SCREENSHOTS is set."""
        if not SCREENSHOTS:
            return
        self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        width, height = size
        given = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
        self.browser.call("Emulation.setDeviceMetricsOverride", **given)
        image = self.browser.call("Page.captureScreenshot", format="png")["data"]
        (Path(SCREENSHOTS) / f"{name}.png").write_bytes(base64.b64decode(image))
        self.browser.call("Emulation.setEmulatedMedia", features=[])
        self.browser.call("Emulation.clearDeviceMetricsOverride")


# -- an imported vault


@pytest.fixture
async def vault(wiki: Wiki) -> Wiki:
    await run_import(wiki, VAULT)
    return wiki


@needs_vault
async def test_every_page_of_a_vault_has_less_than_100_kb(
    service: Service, vault: Wiki, token: str, owner: str
) -> None:
    async with signed_in(service, token) as browser:
        pages = await vault.rows("pages")
        assert len(pages) == 173
        for page in pages:
            shown = await browser.get(f"/wiki/{owner}/{page['type']}/{page['slug']}")
            assert (shown.status_code, page["slug"]) == (200, page["slug"])
            assert len(shown.content) < 100_000, page["slug"]


@needs_vault
@needs_browser
async def test_a_person_finds_reads_and_improves_a_note_of_their_vault(
    dsn: str, tmp_path: Path, vault: Wiki, owner: str
) -> None:
    async with serving(dsn, tmp_path) as signing:
        token = signing.token(vault.scope.tenant_id, vault.scope.owner_id, Role.ADMIN)

    def browse(url: str) -> None:
        with tab() as browser:
            me = Journey(browser, url, owner)
            me.open("")
            typed(browser, ".find input", "callouts")
            browser.wait_for("document.querySelectorAll('.suggestions [role=option]').length > 0")
            pressed(browser, "ArrowDown")
            pressed(browser, "Enter")
            browser.wait_for("document.querySelector('h1')?.innerText === 'Callouts' && !!window.cairn")
            assert "Obsidian Flavored Markdown" in me.text(".around")
            me.click('.actions a[href^="/edit/"]', "/edit/")
            browser.wait_for("!document.querySelector('.preview').hidden")
            browser.run("document.querySelector('#body').setSelectionRange(0, 0)")
            typed(browser, "#body", "Read **twice**. See [[Daily no")
            browser.wait_for("!document.querySelector('.completing').hidden")
            pressed(browser, "Enter")
            assert "[[Daily notes]]" in browser.run("document.querySelector('#body').value")
            typed(browser, "#edit_summary", "Said where to look")
            me.click("form[data-draft-key] button:not([type])", "/wiki/")
            assert "Read twice. See Daily notes" in me.text("article")
            me.click('.actions a[href^="/history/"]', "/history/")
            assert "Said where to look" in me.text()
            me.click("main form button", "/diff/")
            assert "Read **twice**" in me.text(".diff")
            me.open(f"work/{owner}")
            assert "Findings" in me.text()
            assert browser.errors() == []

    async with serving(dsn, tmp_path, local_token=token) as service:
        await asyncio.to_thread(browse, service.url)


# -- the demo


@pytest.fixture
async def demo(dsn: str, wiki: Wiki, tmp_path: Path) -> AsyncIterator[Service]:
    """The service with the sample wikis, as `cairn demo` signs browsers in."""
    await load_sample(wiki.database, lambda message: None, lambda name: nullcontext(lambda *given: None))
    sql = "SELECT tenant_id, id FROM owners WHERE slug = 'mara' ORDER BY id LIMIT 1"
    row = await wiki.connection.fetchrow(sql)
    async with serving(dsn, tmp_path) as signing:
        token = signing.token(row["tenant_id"], row["id"], Role.MEMBER)
    async with serving(dsn, tmp_path, local_token=token) as service:
        yield service


async def test_a_newcomer_finds_links_to_all_lists_on_the_home_page_of_the_demo(demo: Service) -> None:
    async with httpx.AsyncClient(base_url=demo.url, headers={"accept": "text/html"}, timeout=30) as browser:
        first = await browser.get("/")
    assert first.status_code == 200
    assert all(f'href="/{path}' in first.text for path in ("wiki/mara/", "pages/mara", "sources/mara", "work/mara"))


@needs_browser
async def test_a_newcomer_reads_the_demo_with_its_evidence_and_creates_a_page(demo: Service, tmp_path: Path) -> None:
    def browse() -> None:
        with tab() as browser:
            me = Journey(browser, demo.url, "mara")
            me.open("")
            me.screenshot("home")
            me.screenshot("home-phone", PHONE, "dark")
            me.open("search/mara?q=pool")
            assert "Barton Springs" in me.text()
            me.screenshot("search")
            me.open("wiki/mara/entity/austin-texas")
            me.screenshot("page")
            me.screenshot("page-dark", WIDE, "dark")
            me.screenshot("page-phone", PHONE)
            browser.run("document.querySelector('.evidence summary').click()")
            assert len(me.text(".evidence details[open] blockquote")) > 20
            browser.run("document.querySelector('.evidence').scrollIntoView({block: 'center'})")
            me.screenshot("evidence")
            me.click('.evidence details[open] a[href$="#rests"]', "/source/mara/")
            assert "Austin" in me.text("section[aria-labelledby=rests]")
            me.open("wiki/mara/entity/austin-texas")
            me.click("a.small-graph", "/graph/mara/")
            assert "Austin" in me.text(".graph .middle text")
            me.screenshot("graph", WIDE, "dark")
            me.open("work/mara")
            name = me.text("section[aria-labelledby=mentions] .entry-title a")
            me.screenshot("work")
            me.click("section[aria-labelledby=mentions] .entry-title a", "/new/mara")
            assert browser.run("document.querySelector('#title').value") == name
            browser.run("document.querySelector('#body').select()")
            typed(browser, "#body", "## Summary\n\nSomebody from [[Austin, Texas]], who knows **water**.")
            browser.wait_for("document.querySelector('.preview strong')?.textContent === 'water'")
            me.screenshot("write")
            me.click("form[data-draft-key] button:not([type])", "/wiki/mara/")
            assert (me.text("h1"), "who knows water" in me.text("article")) == (name, True)
            assert browser.errors() == []

    await asyncio.to_thread(browse)


@needs_browser
async def test_a_newcomer_resolves_a_conflict_and_opens_history_and_sources(demo: Service, tmp_path: Path) -> None:
    path = "mara/entity/austin-texas?section=overview"

    async def save_as_another_person(text: str) -> None:
        async with httpx.AsyncClient(base_url=demo.url, headers={"accept": "text/html"}, timeout=30) as other:
            form = form_of(await other.get(f"/edit/{path}"))
            saved = await other.post(
                f"/edit/{path}", data=form | {"body": text, "edit_summary": "Seen"}, headers=SAME_ORIGIN
            )
            assert saved.status_code == 303

    loop = asyncio.get_running_loop()

    def browse() -> None:
        with tab() as browser:
            me = Journey(browser, demo.url, "mara")
            me.open(f"edit/{path}")
            base = browser.run("document.querySelector('#body').value")
            other = base.replace("one river", "two rivers")
            assert other != base
            asyncio.run_coroutine_threadsafe(save_as_another_person(other), loop).result(60)
            browser.run("document.querySelector('#body').select()")
            typed(browser, "#body", base.replace("one river", "one wide river"))
            browser.run("document.querySelector('form[data-draft-key] button:not([type])').click()")
            browser.wait_for(
                "document.querySelectorAll('.three > *').length === 3 && document.readyState === 'complete'"
            )
            assert [word in me.text(".three") for word in ("two rivers", "one wide river")] == [True, True]
            me.screenshot("conflict", (1180, 620))
            me.screenshot("conflict-phone", PHONE, "dark")
            me.click(".three button", "/wiki/mara/")
            assert "one wide river" in me.text("article")
            me.click('.actions a[href^="/history/"]', "/history/")
            me.screenshot("history", (1180, 620))
            me.click("main form button", "/diff/")
            assert "one wide river" in me.text(".diff")
            me.screenshot("diff", (1180, 620), "dark")
            me.open("sources/mara")
            me.screenshot("sources", WIDE, "dark")
            me.click(".entry-title a", "/source/mara/")
            me.screenshot("source-phone", PHONE)
            me.open("sign-in")
            me.screenshot("sign-in", (1180, 560))
            assert [message for message in browser.errors() if "409 (Conflict)" not in message] == []

    await asyncio.to_thread(browse)
