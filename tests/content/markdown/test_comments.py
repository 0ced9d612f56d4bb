"""What of a text is a comment, and what only looks like one."""

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
def test_comments_are_left_out_and_code_is_kept(text: str, shown: str) -> None:
    assert strip_comments(text) == shown


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_nothing_but_comments_is_taken_away(text: str) -> None:
    left = iter(text)
    assert all(letter in left for letter in strip_comments(text)), "what is left stands there in that order"
