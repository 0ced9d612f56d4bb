"""The fast reader of plain headers agrees with the full YAML reader, and declines other headers."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from content.notes.frontmatter import BadFrontmatter, read_in_full, read_plain

PIECES = st.sampled_from([
    "a", "Z", "é", "東", "0", "1", "007", "1e3", "1.5", "2026-01-01", "12:30", "0x1F", "1_000", "yes", "Null", "true",
    "y", " ", "  ", ", ", ",", ":", ": ", "-", "- ", "?", "? ", "#", " #", "[", "]", "{", "}", "(", ")", "'", '"', '""',
    "\\", "|", ">", "&", "*", "!", "%", "@", "`", "~", "=", "/", ".", "..", "+", "_", "<<", "\t", "\x85", "\u2028",
    "\r", "\x7f",
])  # fmt: skip
WORDS = st.sampled_from(
    ["a", "Z9", "é", "東京", "007", "b/c", "d:e", "(f)", "g's", "h,", "12:30", "&", "i-j", "1", "no"]
)
TEXTS = (
    st.lists(WORDS, min_size=1, max_size=2).map(" ".join)
    | st.lists(PIECES, max_size=5).map("".join)
    | st.text(max_size=8)
)
KEYS = st.sampled_from(["title", "type", "tags", "a-b", "yes", "y", "N", "null", "A1", "<<"]) | st.text(max_size=4)
VALUES = st.one_of(
    TEXTS.map(lambda text: f" {text}"),
    TEXTS.map(lambda text: f' "{text}"'),
    st.lists(TEXTS, max_size=3).map(lambda texts: f" [{', '.join(texts)}]"),
    st.lists(st.tuples(st.sampled_from(["", " ", "  "]), TEXTS), max_size=3).map(
        lambda items: "".join(f"\n{margin}- {text}" for margin, text in items)
    ),
)
LINES = st.tuples(KEYS, VALUES).map(lambda line: f"{line[0]}:{line[1]}") | TEXTS
HEADERS = st.lists(LINES, min_size=1, max_size=3).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(HEADERS)
@example("tags:\n- a\n- b\ntype: x\n")
@example("a: b\n  c\n")
@example("a: b\n- c\n")
@example("a: x:\n")
@example("a: [b,c, d ]\n")
@example("a: [b,, d]\n")
@example("a: [b, d,]\n")
def test_the_plain_reader_agrees_with_yaml(header: str) -> None:
    found = read_plain(header)
    if found is not None:
        assert yaml_or_error(header) == found


def yaml_or_error(header: str) -> Any:
    try:
        return read_in_full(header)
    except BadFrontmatter as error:
        return error


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("title: Austin, Texas\ntype: topic\n", {"title": "Austin, Texas", "type": "topic"}),
        ("aliases: [ATX, Bat City]\n", {"aliases": ["ATX", "Bat City"]}),
        ("tags:\n  - bbq\n  - city guide\nparent:\n", {"tags": ["bbq", "city guide"], "parent": None}),
        ('parent: "[[Texas]]"\nday: 2026-11-22\n', {"parent": "[[Texas]]", "day": "2026-11-22"}),
    ],
)
def test_ordinary_headers_are_read_by_the_plain_reader(header: str, values: dict[str, Any]) -> None:
    assert read_plain(header) == values


@pytest.mark.parametrize(
    "header",
    ["a: 1\n", "a: true\n", "a: b # c\n", "a: {b: c}\n", "a: |\n  b\n", "a: &b c\n", "a: b\na: c\n", "a: 'b'\n", "\n"],
)
def test_the_plain_reader_declines_other_yaml(header: str) -> None:
    assert read_plain(header) is None
