"""The reader in a real browser: journeys of a person."""

import asyncio
import json
from pathlib import Path
from uuid import UUID

import pytest

from resolvers.pages.sections import patch_section
from tests.app.chromium import EXECUTABLE, Tab, tab
from tests.app.service import serving
from tests.app.web.conftest import Reader
from tests.content.test_ingest import pdf
from tests.wiki import Wiki

pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium")


def opened(browser: Tab, url: str) -> None:
    """Open an address and wait until the page and its scripts are loaded."""
    browser.open(url)
    arrived(browser, url)


def arrived(browser: Tab, url: str) -> None:
    browser.wait_for(f"location.href === {json.dumps(url)} && document.readyState === 'complete' && !!window.cairn")


def typed(browser: Tab, field: str, text: str) -> None:
    browser.run(f"document.querySelector({json.dumps(field)}).focus()")
    browser.call("Input.insertText", text=text)


def pressed(browser: Tab, key: str) -> None:
    code = {"Enter": 13, "ArrowDown": 40, "Escape": 27, "Tab": 9}[key]
    more = {"text": "\r"} if key == "Enter" else {}
    for type in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=type, key=key, code=key, windowsVirtualKeyCode=code, **more)


async def test_a_person_searches_as_they_type_and_opens_a_page_by_keyboard(reader: Reader, tmp_path: Path) -> None:
    def browse() -> None:
        with tab() as browser:
            opened(browser, f"{reader.url}/")
            typed(browser, ".find input", "barton")
            browser.wait_for("document.querySelectorAll('.suggestions [role=option]').length > 0")
            assert browser.run("document.querySelector('.find [role=status]').textContent").endswith("found")
            pressed(browser, "ArrowDown")
            chosen = (
                "document.getElementById(document.querySelector('.find input').getAttribute('aria-activedescendant'))"
            )
            assert "Barton Springs" in browser.run(f"{chosen}.textContent")
            pressed(browser, "Enter")
            arrived(browser, reader.path(slug="barton-springs"))
            typed(browser, ".find input", "poool")
            pressed(browser, "Enter")
            browser.wait_for("location.pathname.startsWith('/search/')")
            assert browser.errors() == []

    await asyncio.to_thread(browse)


async def test_a_person_opens_evidence_and_sees_the_preview_of_a_link(reader: Reader, tmp_path: Path) -> None:
    def browse() -> None:
        with tab() as browser:
            opened(browser, reader.path())
            quote = "document.querySelector('.evidence blockquote')"
            assert browser.run(f"{quote}.checkVisibility()") is False
            browser.run("document.querySelector('.evidence summary').click()")
            assert browser.run(f"[{quote}.checkVisibility(), {quote}.textContent]") == [True, "The pool is cold."]
            browser.run("document.querySelector('.prose a.wiki-link').focus()")
            place = browser.run(
                "(r => [r.x + 4, r.y + 4])(document.querySelector('.prose a.wiki-link').getBoundingClientRect())"
            )
            browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])
            assert "A pool in Austin." in browser.wait_for("document.querySelector('.card')?.textContent")
            assert [url for url in browser.requested_urls() if not url.startswith((reader.url, "data:"))] == []
            assert browser.errors() == []

    await asyncio.to_thread(browse)


async def test_unsaved_text_survives_a_reload_and_can_be_saved(reader: Reader, tmp_path: Path) -> None:
    def browse() -> None:
        address = reader.path("edit") + "?section=food"
        with tab() as browser:
            opened(browser, address)
            browser.run("document.querySelector('#body').select()")
            typed(browser, "#body", "Brisket, **hot**, by [[Bart")
            browser.wait_for("document.querySelector('.preview strong')?.textContent === 'hot'")
            browser.wait_for("!document.querySelector('.completing').hidden")
            pressed(browser, "Enter")
            assert browser.run("document.querySelector('#body').value").endswith("[[Barton Springs]]")
            browser.call("Page.reload")
            browser.wait_for("document.querySelector('[data-draft]')?.hidden === false")
            assert "**hot**" in browser.run("document.querySelector('#body').value")
            browser.run("document.querySelector('form[data-draft-key] button:not([type])').click()")
            browser.wait_for("location.pathname.startsWith('/wiki/') && document.readyState === 'complete'")
            assert "hot" in browser.run("document.querySelector('article strong').textContent")
            assert browser.run("Object.keys(localStorage).filter(key => key.startsWith('cairn:draft')).length") == 0
            assert browser.errors() == []

    await asyncio.to_thread(browse)


async def test_pages_and_the_editor_work_while_the_storage_of_the_browser_is_full(
    reader: Reader, tmp_path: Path
) -> None:
    fill = "for (let size = 2 ** 23; size >= 1; size /= 2) try { localStorage.x += 'x'.repeat(size) } catch { }"

    def browse() -> None:
        with tab() as browser:
            opened(browser, reader.path("edit") + "?section=food")
            browser.run("localStorage.clear()")
            browser.run(fill)
            typed(browser, "#body", "It is **hot**. ")
            browser.wait_for("document.querySelector('.preview strong')?.textContent === 'hot'")
            opened(browser, reader.path())
            browser.run("document.getElementById('food').scrollIntoView()")
            browser.wait_for("document.querySelector('.toc [aria-current]')?.textContent")
            assert browser.run("Object.keys(localStorage)") == ["x"]
            assert browser.errors() == []

    await asyncio.to_thread(browse)


RICH = (
    "<meta charset=utf-8><b style='font-weight:normal;' id=docs-internal><h2>Tides</h2><p>Low at <strong>six</strong>,"
    " see <a href='https://tides.example/'>the table</a>.</p><ul><li>one</li><li>two</li></ul>"
    "<script>alert(1)</script></b>"
)


def paste(browser: Tab, kinds: dict[str, str]) -> None:
    script = "{const given = new DataTransfer();"
    script += f"for (const [kind, text] of Object.entries({json.dumps(kinds)})) given.setData(kind, text);"
    script += "const pasted = new ClipboardEvent('paste', {clipboardData: given, bubbles: true, cancelable: true});"
    browser.run(
        f"{script} document.querySelector('#body').dispatchEvent(pasted); window.kept = !pasted.defaultPrevented}}"
    )


async def test_pasted_html_becomes_markdown(reader: Reader, tmp_path: Path) -> None:
    def browse() -> None:
        with tab() as browser:
            opened(browser, reader.path("edit") + "?section=food")
            browser.run("document.querySelector('#body').select()")
            paste(browser, {"text/html": RICH, "text/plain": "Tides Low at six"})
            browser.wait_for("document.querySelector('#body').value.includes('Tides')")
            assert browser.run("document.querySelector('#body').value") == (
                "## Tides\n\nLow at **six**, see [the table](https://tides.example/).\n\n- one\n- two"
            )
            code = {"text/html": "<meta><div style='color:red'><span>## x</span></div>", "text/plain": "## x"}
            paste(browser, code)
            assert browser.run("window.kept") is True
            assert browser.errors() == []

    await asyncio.to_thread(browse)


SAVED = """(() => {
    const asked = new XMLHttpRequest();
    asked.open("GET", document.querySelector("a[href^='/original/']").href, false);
    asked.overrideMimeType("text/plain; charset=x-user-defined");
    asked.send();
    return [...asked.responseText].map((one) => one.charCodeAt(0) & 255);
})()"""


async def test_the_text_of_an_uploaded_file_becomes_a_source(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "Broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (tmp_path / "Kiln log.pdf").write_bytes(pdf("The kiln was fired twice."))
    (tmp_path / "Tide table.html").write_text(
        "<title>T</title><h1>Tides</h1><p>Low at <b>six</b>.</p>", encoding="utf-8"
    )

    def browse() -> None:
        with tab() as browser:

            def choose(name: str) -> None:
                found = browser.call("Runtime.evaluate", expression="document.querySelector('#file')")["result"]
                browser.call("DOM.setFileInputFiles", files=[str(tmp_path / name)], objectId=found["objectId"])

            for name, text in (("Tide table", "**six**"), ("Kiln log", "The kiln was fired twice.")):
                opened(browser, f"{reader.url}/add-source/{reader.owner}")
                file = f"{name}.{'html' if name == 'Tide table' else 'pdf'}"
                choose(file)
                browser.wait_for(f"document.querySelector('#content').value.includes('{text}')")
                browser.run("document.querySelector('main form button').click()")
                browser.wait_for("location.pathname.startsWith('/source/') && document.readyState === 'complete'")
                assert browser.run("document.querySelector('h1').textContent") == name
                assert browser.run(SAVED) == list((tmp_path / file).read_bytes())
            assert browser.errors() == []
            opened(browser, f"{reader.url}/add-source/{reader.owner}")
            choose("Broken.pdf")
            browser.wait_for("document.querySelector('[data-file] [role=alert]').textContent.includes('no PDF')")
            assert browser.run("document.querySelector('#content').value") == ""
            choose("Kiln log.pdf")
            browser.wait_for("document.querySelector('#content').value.includes('fired twice')")
            assert browser.run("document.querySelector('[data-file] [role=alert]').textContent") == ""

    await asyncio.to_thread(browse)


async def test_a_person_signs_in_from_another_host_name_by_pasting_a_token(
    dsn: str, tmp_path: Path, reader: Reader
) -> None:
    async with serving(dsn, tmp_path) as service:

        def browse() -> None:
            with tab() as browser:
                opened(browser, f"{service.url}/sign-in?next=%2Fpages%2F{reader.owner}")
                typed(browser, "#token", reader.token)
                pressed(browser, "Enter")
                browser.wait_for("location.pathname.startsWith('/pages/')")
                assert browser.run("document.cookie") == ""
                assert browser.errors() == []

        await asyncio.to_thread(browse)


async def test_an_open_page_announces_a_change_and_links_its_difference(
    reader: Reader, wiki: Wiki, tmp_path: Path
) -> None:
    loop = asyncio.get_running_loop()

    def write(text: str) -> None:
        writing = patch_section(wiki.database, wiki.scope, UUID(reader.page), section_slug="food", body=text)
        asyncio.run_coroutine_threadsafe(writing, loop).result(30)

    def browse() -> None:
        shown = "!document.getElementById({}).hidden"
        with tab() as browser:
            opened(browser, reader.path())
            assert not browser.run(shown.format("'changed-now'"))
            write("No queue.")
            browser.wait_for(shown.format("'changed-now'"))
            assert "changed this page" in browser.run("document.getElementById('changed-now').textContent")
            browser.run("document.querySelector('#changed-now a').click()")
            browser.wait_for("document.querySelector('.reading')?.dataset.version === '2' && !!window.cairn")
            assert not browser.run(shown.format("'changed-now'"))
            browser.wait_for(shown.format("'changed-since'"))
            browser.run("document.querySelector('#changed-since a').click()")
            browser.wait_for("location.pathname.startsWith('/diff/') && document.readyState === 'complete'")
            assert "No queue." in browser.run("document.querySelector('.diff ins, .diff .added').textContent")
            assert browser.errors() == []

    await asyncio.to_thread(browse)


async def test_a_page_opens_completely_whatever_its_fragment_is(reader: Reader, tmp_path: Path) -> None:
    def browse() -> None:
        with tab() as browser:
            for fragment in ("#100%", "#", "#%C3"):
                opened(browser, reader.path(slug="barton-springs"))
                browser.run("localStorage.clear()")
                opened(browser, f"{reader.path()}{fragment}")
                browser.wait_for(f"localStorage.getItem('cairn:read:{reader.page}') === '1'")
                assert browser.errors() == []

    await asyncio.to_thread(browse)


def tabbed_to(browser: Tab, selector: str) -> None:
    """Press Tab until the selected element has the focus; each focused element on the way must show it."""
    for _ in range(80):
        pressed(browser, "Tab")
        shown = "(one => one.matches(':focus-visible') && getComputedStyle(one).outlineStyle !== 'none')"
        assert browser.run(f"{shown}(document.activeElement)"), browser.run("document.activeElement.outerHTML")
        if browser.run(f"document.activeElement.matches({json.dumps(selector)})"):
            return
    raise AssertionError(f"Tab does not reach {selector}")


async def test_a_page_is_found_edited_and_restored_by_keyboard_alone(reader: Reader, tmp_path: Path) -> None:
    def follow(browser: Tab, selector: str, path: str) -> None:
        tabbed_to(browser, selector)
        pressed(browser, "Enter")
        browser.wait_for(f"location.pathname.startsWith({json.dumps(path)}) && document.readyState === 'complete'")
        browser.wait_for("!!window.cairn")

    def browse() -> None:
        with tab() as browser:
            opened(browser, f"{reader.url}/")
            tabbed_to(browser, ".find input")
            browser.call("Input.insertText", text="austin")
            browser.wait_for("document.querySelectorAll('.suggestions [role=option]').length > 0")
            pressed(browser, "ArrowDown")
            pressed(browser, "Enter")
            arrived(browser, reader.path())
            tabbed_to(browser, ".evidence summary")
            pressed(browser, "Enter")
            browser.wait_for("document.querySelector('.evidence blockquote').checkVisibility()")
            follow(browser, ".edit[href*='section=food']", "/edit/")
            tabbed_to(browser, "#body")
            browser.call("Input.insertText", text="Soup at noon. ")
            follow(browser, "form[data-draft-key] button:not([type])", "/wiki/")
            assert "Soup at noon." in browser.run("document.querySelector('article').textContent")
            follow(browser, ".actions a[href^='/history/']", "/history/")
            follow(browser, "main form button", "/diff/")
            assert "Soup at noon." in browser.run("document.querySelector('.diff').textContent")
            follow(browser, "form[action^='/restore/'] button", "/wiki/")
            assert "Soup at noon." not in browser.run("document.querySelector('article').textContent")
            assert browser.run("document.querySelector('.reading').dataset.version") == "3"
            assert browser.errors() == []

    await asyncio.to_thread(browse)
