"""Comments are removed from a text, except where they are code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.markdown.plain import strip_comments

PIECES = ["a", " ", "\n", "\n\n", "<!--", "-->", "%%", "`", "```\n", "    ", "# ", "- ", "> ", "\\", "<pre>"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("seen <!-- hidden\nremark --> text", "seen  text"),
        ("<!-- a\n\n# no heading\n\nb -->\n\nseen", "\n\nseen"),
        ("seen\n\n<!-- <b>bold</b> " + "long " * 200 + "-->", "seen\n\n"),
        ("seen\n\n<!-- never closed\n\nhidden", "seen\n\n"),
        ("one <!-- that is not closed", "one <!-- that is not closed"),
        ("a %%remark%% and %% another\n\none %% b", "a  and  b"),
        ("%%\na block\n%%\nseen", "\nseen"),
        ("100%% of 50%% and 5%%", "100%% of 50%% and 5%%"),
        ("an open %% sign\n\n# Next\n\nand another %% sign", "an open %% sign\n\n# Next\n\nand another %% sign"),
        ("`<!-- code -->` and `%% code %%`", "`<!-- code -->` and `%% code %%`"),
        ("```html\n<!-- code -->\n%% code %%\n```", "```html\n<!-- code -->\n%% code %%\n```"),
        ("    <!-- indented -->", "    <!-- indented -->"),
        ("\\<!-- escaped -->", "\\<!-- escaped -->"),
        ("no marks", "no marks"),
    ],
)
def test_comments_are_removed_and_code_is_kept(text: str, shown: str) -> None:
    assert strip_comments(text) == shown


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_removing_comments_keeps_the_other_characters_in_order(text: str) -> None:
    letters = iter(text)
    assert all(letter in letters for letter in strip_comments(text)), "the remaining characters keep their order"
