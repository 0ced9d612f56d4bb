"""Open forms of the reader in a real browser, when the network fails or the session ends."""

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from resolvers.pages.sections import patch_section
from tests.app.chromium import EXECUTABLE, tab
from tests.app.service import serving
from tests.app.web.conftest import Reader
from tests.app.web.test_web_in_browser import RICH, opened, paste, pressed, typed
from tests.wiki import Wiki

pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium")


async def test_unsaved_text_survives_a_submission_that_fails(reader: Reader) -> None:
    def browse() -> None:
        address = reader.path("edit") + "?section=food"
        network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        with tab() as browser:
            opened(browser, address)
            browser.run("document.querySelector('#body').select()")
            typed(browser, "#body", "Brisket, **hot**.")
            browser.wait_for("document.querySelector('.preview strong')?.textContent === 'hot'")
            browser.call("Network.emulateNetworkConditions", offline=True, **network)
            browser.run("document.querySelector('form[data-draft-key] button:not([type])').click()")
            browser.wait_for("location.protocol === 'chrome-error:'")
            browser.call("Network.emulateNetworkConditions", offline=False, **network)
            opened(browser, reader.path())
            opened(browser, address)
            browser.wait_for("document.querySelector('[data-draft]')?.hidden === false")
            assert browser.run("document.querySelector('#body').value") == "Brisket, **hot**."

    await asyncio.to_thread(browse)


async def test_unsaved_text_survives_a_change_of_the_page_and_is_merged_with_it(reader: Reader, wiki: Wiki) -> None:
    page = UUID(reader.page)

    def write() -> None:
        opened(browser, address)
        browser.run("document.querySelector('#body').select()")
        typed(browser, "#body", "Brisket, **hot**.")
        browser.wait_for("document.querySelector('.preview strong')?.textContent === 'hot'")

    def save() -> None:
        opened(browser, address)
        browser.wait_for("document.querySelector('[data-draft]')?.hidden === false")
        assert browser.run("document.querySelector('#body').value") == "Brisket, **hot**."
        browser.run("document.querySelector('[data-draft] button').click()")
        assert browser.run("document.querySelector('#body').value") == "> Brisket, and a *queue*."
        write()
        browser.run("document.querySelector('form[data-draft-key] button:not([type])').click()")
        browser.wait_for("location.pathname.startsWith('/wiki/') && document.readyState === 'complete'")
        assert browser.run("Object.keys(localStorage).filter(key => key.startsWith('cairn:draft')).length") == 0

    address = reader.path("edit") + "?section=food"
    with tab() as browser:
        await asyncio.to_thread(write)
        await patch_section(wiki.database, wiki.scope, page, section_slug="water", body="Warm.")
        await asyncio.to_thread(save)
    text = (await wiki.page(page))["body_md"]
    assert "Warm." in text
    assert "Brisket, **hot**." in text


async def test_unsaved_text_is_not_saved_over_a_newer_text_of_its_section(reader: Reader, wiki: Wiki) -> None:
    def write() -> None:
        opened(browser, reader.path("edit") + "?section=food")
        typed(browser, "#body", "My words. ")
        browser.wait_for("document.querySelector('.preview .prose').textContent.includes('My words')")

    def save() -> None:
        opened(browser, reader.path("edit") + "?section=food")
        browser.wait_for("document.querySelector('[data-draft]')?.hidden === false")
        browser.run("document.querySelector('form[data-draft-key] button:not([type])').click()")
        browser.wait_for("document.querySelector('.three') && document.readyState === 'complete'")
        assert "My words." in browser.run("document.querySelector('#body').value")

    with tab() as browser:
        await asyncio.to_thread(write)
        await patch_section(wiki.database, wiki.scope, UUID(reader.page), section_slug="food", body="Theirs.")
        await asyncio.to_thread(save)


async def test_the_sign_in_page_is_never_inserted_into_an_open_form(dsn: str, tmp_path: Path, reader: Reader) -> None:
    """The session of an open editor ends, and requests of its scripts are redirected to the sign-in page."""
    (tmp_path / "tides.txt").write_text("Low at six.", encoding="utf-8")
    async with serving(dsn, tmp_path) as service:

        def browse() -> None:
            with tab() as browser:
                opened(browser, f"{service.url}/sign-in?next=%2Fadd-source%2F{reader.owner}")
                typed(browser, "#token", reader.token)
                pressed(browser, "Enter")
                browser.wait_for("location.pathname.startsWith('/add-source/') && !!window.cairn")
                browser.call("Network.clearBrowserCookies")
                found = browser.call("Runtime.evaluate", expression="document.querySelector('#file')")["result"]
                browser.call("DOM.setFileInputFiles", files=[str(tmp_path / "tides.txt")], objectId=found["objectId"])
                browser.wait_for("document.querySelector('[data-file] [role=alert]').textContent")
                assert browser.run("document.querySelector('#content').value") == ""
                opened(
                    browser, f"{service.url}/sign-in?next=%2Fedit%2F{reader.owner}%2Ftopic%2Faustin%3Fsection%3Dfood"
                )
                typed(browser, "#token", reader.token)
                pressed(browser, "Enter")
                browser.wait_for("document.querySelector('.preview')?.hidden === false")
                browser.call("Network.clearBrowserCookies")
                browser.run("document.querySelector('#body').select()")
                paste(browser, {"text/html": RICH, "text/plain": "Tides Low at six"})
                browser.wait_for("!document.querySelector('#body').value.includes('Brisket')")
                assert browser.run("document.querySelector('#body').value") == "Tides Low at six"
                browser.run(
                    "window.cairn.fetchDocument('/suggest/mara?q=a').then((found) => (window.got = `${found}`))"
                )
                assert browser.wait_for("window.got") == "null"

        await asyncio.to_thread(browse)
