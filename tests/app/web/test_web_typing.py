"""Typing in the reader with an input method, as for Chinese and Japanese."""

import asyncio
import json

import pytest

from tests.app.chromium import EXECUTABLE, Tab, tab
from tests.app.web.conftest import Reader
from tests.app.web.test_web_in_browser import opened, typed

pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium")


def is_left_to_input_method(browser: Tab, place: str, key: str) -> bool:
    """Return whether the page leaves a key to the input method, in which the person composes a word."""
    given = {"key": key, "isComposing": True, "bubbles": True, "cancelable": True}
    script = f"document.querySelector({json.dumps(place)}).dispatchEvent(new KeyboardEvent('keydown', {given}))"
    return bool(browser.run(script.replace("True", "true")))


async def test_keys_that_choose_a_word_of_an_input_method_choose_no_suggestion(reader: Reader) -> None:
    def browse() -> None:
        with tab() as browser:
            opened(browser, f"{reader.url}/")
            typed(browser, ".find input", "barton")
            browser.wait_for("document.querySelectorAll('.suggestions [role=option]').length > 0")
            for key in ("ArrowDown", "ArrowUp", "Enter", "Escape"):
                assert is_left_to_input_method(browser, ".find input", key), key
            assert browser.run("document.querySelector('.find [aria-selected=true]')") is None
            opened(browser, reader.path("edit") + "?section=food")
            typed(browser, "#body", "[[Bart")
            browser.wait_for("!document.querySelector('.completing').hidden")
            for key in ("ArrowDown", "ArrowUp", "Tab", "Escape", "Enter"):
                assert is_left_to_input_method(browser, "#body", key), key
            assert "Barton" not in browser.run("document.querySelector('#body').value")

    await asyncio.to_thread(browse)
