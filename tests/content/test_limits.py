"""Texts that cannot be stored are refused."""

import pytest

from content.limits import BadText, clean


@pytest.mark.parametrize("text", ["", "plain", "emoji 🚀 \U0010ffff", "tab\tline\n\x01"])
def test_ordinary_text_passes(text: str) -> None:
    assert clean(text) is text


@pytest.mark.parametrize(("text", "where"), [("a\0b", "NUL .* character 1"), ("\ud83d", "surrogate .* character 0")])
def test_text_that_cannot_be_stored_is_refused(text: str, where: str) -> None:
    with pytest.raises(BadText, match=where):
        clean(text)
