"""The layout of the reader in a real browser: long words on narrow screens, and texts from right to left."""

import asyncio
import json
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

CAFE = "مقهى الميناء"
CAFE_BODY = f"""{CAFE} (افتتح عام 2019!). انظر [Barton Springs](wiki:barton-springs) الآن.

- بند أول: 12 ليتر.

> اقتباس قصير.

| المكان | درجة |
|---|---|
| المسبح | 20 |

```
one()
```

An English paragraph."""


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


async def test_texts_from_right_to_left_are_laid_out_by_their_first_letter(reader: Reader, wiki: Wiki) -> None:
    slug = await add_page(wiki, CAFE, CAFE_BODY, summary=f"{CAFE}.")

    def begins_at_the_right(browser: Tab, place: str) -> bool:
        script = """(element => {
          const range = document.createRange();
          range.setStart(document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode(), 0);
          range.setEnd(range.startContainer, 1);
          const { left, right } = element.getBoundingClientRect();
          return range.getBoundingClientRect().left > (left + right) / 2;
        })(document.querySelector(PLACE))""".replace("PLACE", json.dumps(place))
        return bool(browser.run(script))

    def bidi_of(browser: Tab, place: str) -> str:
        return str(browser.run(f"getComputedStyle(document.querySelector('{place}')).unicodeBidi"))

    def browse() -> None:
        with narrow_tab() as browser:
            opened(browser, reader.path(slug=quote(slug)))
            for place in ("h1", ".summary", ".prose p", ".prose li", ".prose blockquote p", ".prose th"):
                assert begins_at_the_right(browser, place), place
            for place in (".prose > p:last-child", ".prose pre"):
                assert not begins_at_the_right(browser, place), place
            assert browser.run("getComputedStyle(document.querySelector('.prose ul')).paddingLeft") == "0px"
            opened(browser, f"{reader.url}/source/{reader.owner}/{reader.source}")
            assert bidi_of(browser, ".source-text span") == "plaintext"
            opened(browser, reader.path("edit", quote(slug)))
            assert [bidi_of(browser, place) for place in ("#body", "#summary")] == ["plaintext"] * 2

    await asyncio.to_thread(browse)
