"""Texts are shown without marks and cut to an excerpt."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.markdown.plain import excerpt, plain


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("## Summary\n\nThe city.", "Summary The city."),
        ("See [Auth](wiki:auth) and [[Lisbon|the port]], [[austin]].", "See Auth and the port, austin."),
        ("- one\n- two\n1. three", "one two three"),
        ("> quoted **bold** and _slanted_ and `code`", "quoted bold and slanted and code"),
        ("snake_case_name stays, 2 * 3 too", "snake_case_name stays, 2 3 too"),
        ("a<br>b <b>c</b>", "a b c"),
        ("```python\nx = 1\n```", "x = 1"),
        ("![alt](x.png) text", "alt text"),
        ("日本語。", "日本語。"),
        ("", ""),
    ],
)
def test_plain_removes_marks_and_keeps_words(text: str, words: str) -> None:
    assert plain(text) == words


def test_an_excerpt_is_cut_at_a_word_and_ends_with_an_ellipsis() -> None:
    assert excerpt("one two three four", 12) == "one two…"
    assert excerpt("one two", 7) == "one two"
    assert excerpt("abcdefghij", 5) == "abcd…"
    assert [excerpt("one two", n) for n in (-1, 0, 1)] == ["", "", "…"]


@pytest.mark.parametrize("letter", ["ที่", "e\u0301\u0323", "👩\u200d🔬", "👍🏽"])
def test_an_excerpt_cuts_no_letter_from_its_marks(letter: str) -> None:
    for length in range(20, 20 + len(letter)):
        assert re.fullmatch(f"(?:{letter})+…", excerpt(letter * 200, length))


def test_excerpts_leave_comments_out() -> None:
    assert excerpt("<!-- a remark\n\nof two parts -->\n\nSeen %%not%% first.") == "Seen first."


@given(st.text(), st.integers(-5, 3000))
def test_an_excerpt_is_one_line_within_its_length(text: str, length: int) -> None:
    shown = excerpt(text, length)
    assert len(shown) <= max(0, min(length, 2000))
    assert "\n" not in shown


@pytest.mark.parametrize("piece", ["[", "![", "[[", "[a](", "<a ", "*", "`", "_ ", "a_", "#", "[" * 300 + "]"])
def test_an_excerpt_reads_only_the_beginning_of_a_long_text(piece: str) -> None:
    text = piece * (990_000 // len(piece))
    assert excerpt(text, 2000) == excerpt(text[:9_000], 2000)
