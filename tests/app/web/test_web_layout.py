"""The layout of the reader in a real browser: long words on narrow screens."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest

from tests.app.chromium import EXECUTABLE, Tab, tab
from tests.app.clients.web_client import add_page
from tests.app.web.conftest import Reader
from tests.app.web.test_web_in_browser import opened
from tests.wiki import Wiki

pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium")


@contextmanager
def narrow_tab() -> Iterator[Tab]:
    """Open a tab that is as wide as a small phone."""
    with tab() as browser:
        size = {"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": False}
        browser.call("Emulation.setDeviceMetricsOverride", **size)
        yield browser


async def test_long_tags_and_aliases_fit_on_a_narrow_screen(reader: Reader, wiki: Wiki) -> None:
    alias = "the cafe at the old mill beside the upper weir of the river which was a bakery until 2019"
    await add_page(wiki, "Mill", "Hot.", tags=["rivers_and_everything_beside_them_" * 2], aliases=[alias])
    searched = f"{reader.url}/search/{reader.owner}?q={quote(alias)}"

    def browse() -> None:
        with narrow_tab() as browser:
            for url in (reader.path(slug="mill"), f"{reader.url}/wiki/{reader.owner}", searched):
                opened(browser, url)
                assert "Mill" in browser.run("document.body.innerText")
                assert browser.run("document.documentElement.scrollWidth <= innerWidth"), url
            assert alias in browser.run("document.querySelector('.kind').textContent")

    await asyncio.to_thread(browse)
