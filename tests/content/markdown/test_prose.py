"""Code, comments and escapes are masked in a text, so that only its prose is left."""

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
def test_code_of_commonmark_is_masked(text: str) -> None:
    tokens = MarkdownIt("commonmark").disable(["reference", "lheading"]).parse(text)
    found = {part.type for token in tokens for part in (token, *(token.children or ()))}
    assert HIDDEN in mask_code(text) or not found & CODE


@given(st.lists(st.sampled_from(PIECES), max_size=15).map("".join))
def test_masking_keeps_the_length_and_all_other_characters(text: str) -> None:
    masked = mask_code(text)
    assert len(masked) == len(text)
    assert all(after in (before, HIDDEN) for after, before in zip(masked, text, strict=True))
