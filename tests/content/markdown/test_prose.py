"""What is prose in a text, and what is code, a comment or an escape."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from content.markdown.prose import HIDDEN, mask_code

PIECES = [
    "a",
    " ",
    "  ",
    "   ",
    "\n",
    "\r",
    "- ",
    "> ",
    "1. ",
    "~",
    "~~",
    "`",
    "\\",
    "<",
    "!--",
    "-->",
    "\t",
    "*",
    "# ",
]
CODE = {"fence", "code_block", "code_inline"}


@given(st.lists(st.sampled_from(PIECES), max_size=15).map("".join))
def test_what_commonmark_reads_as_code_is_hidden(text: str) -> None:
    tokens = MarkdownIt("commonmark").disable(["reference", "lheading"]).parse(text)
    found = {one.type for token in tokens for one in (token, *(token.children or ()))}
    assert HIDDEN in mask_code(text) or not found & CODE


@given(st.lists(st.sampled_from(PIECES), max_size=15).map("".join))
def test_prose_keeps_its_length_and_its_lines(text: str) -> None:
    masked = mask_code(text)
    assert len(masked) == len(text)
    assert all(now in (was, HIDDEN) for now, was in zip(masked, text, strict=True))
