"""Frontmatter is read and written without loss."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.notes.frontmatter import BadFrontmatter, join, split, split_any
from tests.content.strategies import JSON, TEXTS

METADATA = st.dictionaries(TEXTS, JSON, max_size=5)


def read(header: str) -> dict[str, Any]:
    return split(f"---\n{header}\n---\n")[0]


def test_split_separates_header_and_body() -> None:
    assert split("---\nname: Auth\n---\n\nText.\n") == ({"name": "Auth"}, "Text.\n")
    assert split("---\r\nname: Auth\r\n--- \r\nText.\r\n") == ({"name": "Auth"}, "Text.\r\n")
    assert split("\ufeff---\rname: Auth\r...\rText.") == ({"name": "Auth"}, "Text.")
    assert split("---\n---\nText.") == ({}, "Text.")


@pytest.mark.parametrize("text", ["", "Text.", "\n---\na: b\n---\n", "----\na\n---", " ---\na: b\n---", "text\n---\n"])
def test_text_without_a_header_is_unchanged(text: str) -> None:
    assert split(text) == ({}, text)


def test_words_such_as_no_and_yes_stay_text() -> None:
    assert read("country: NO\non: yes\nno: off") == {"country": "NO", "on": "yes", "no": "off"}


def test_dates_versions_and_long_numbers_stay_text() -> None:
    header = (
        "day: 2026-02-15\nat: 2026-02-15T10:00:00Z\nversion: 1.10\nzip: 007\nhex: 0x1F\nbig: 123456789012345678901\n"
    )
    assert set(map(type, read(header).values())) == {str}
    assert join(read(header), "") == f"---\n{header}---\n\n"


def test_numbers_booleans_and_nulls_are_converted() -> None:
    assert read("a: 1\nb: 1.5\nc: true\nd: null\ne:\nf: [x, {g: h}]\n2: two") == {
        "a": 1, "b": 1.5, "c": True, "d": None, "e": None, "f": ["x", {"g": "h"}], "2": "two",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("---\na: b\n", "line 1: .*not closed"),
        ("---\na: b\nc: [\n---\n", "line [34]: "),
        ("---\n- a\n---\n", "line 2: .*mapping"),
        ("---\njust text\n---\n", "line 2: .*mapping"),
        ("---\na: 1\na: 2\n---\n", "line 3: .*duplicate"),
        ("---\na: b\nb: *x\n---\n", "line 3: .*alias"),
        ("---\na: !!python/object:os.system x\n---\n", "line 2: "),
        ("---\na: !!binary eA==\n---\n", "line 1: .*binary data"),
        ("---\nb: c\na: x\0\n---\n", "NUL"),
        ("---\na: \ud800\n---\n", "surrogate"),
        ('---\na: "\\0"\n---\n', "NUL"),
        ("---\nb: c\na: \x07\n---\n", "line 3: .*control"),
        (f"---\na: {'x' * 270_000}\n---\n", "longer than"),
        (f"---\na: {'[' * 1000}\n---\n", "nested"),
        ("---\na: &a [*a]\n---\n", "nested"),
        ("---\na: &a [" + "x," * 99 + "x]\nb: [" + "*a," * 20 + "*a]\n---\n", "aliases"),
    ],
)
def test_a_bad_header_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(BadFrontmatter, match=words):
        split(text)


@pytest.mark.parametrize("bomb", ["a{n}: &a{n} [*a{m}, *a{m}, *a{m}]\n", "a{n}: &a{n}\n  <<: [*a{m}, *a{m}, *a{m}]\n"])
def test_exponentially_nested_aliases_are_refused(bomb: str) -> None:
    lines = "".join(bomb.format(n=n, m=n - 1) for n in range(1, 40))
    with pytest.raises(BadFrontmatter, match="aliases"):
        read(f"a0: &a0 {{x: y}}\n{lines}")


def test_anchors_may_be_used_and_redefined() -> None:
    assert read("a: &x [1]\nb: *x\nc: &x 2") == {"a": [1], "b": [1], "c": 2}


@given(METADATA, st.text())
def test_splitting_joined_text_returns_metadata_and_body(metadata: dict[str, Any], body: str) -> None:
    assert split(join(metadata, body)) == (metadata, body)


@pytest.mark.parametrize("value", [1, "x", [], [1, [2, {}]], {"b": [{"c": "d", "e": []}]}])
def test_nested_values_survive_writing_and_reading(value: Any) -> None:
    for metadata in ({"a": value}, {"a": [value]}, {"a": {"b": value}}, {"k" * 2000: [{"k" * 2000: value}]}):
        assert split(join(metadata, "")) == (metadata, "")


def test_metadata_are_written_as_block_style_yaml() -> None:
    metadata = {
        "title": "Austin, Texas: a city",
        "day": "2026-02-15",
        "tags": ["city", "no", "1.5"],
        "sources": [{"ref": "memory/2026-01-15.md", "lines": "3-9"}],
        "owner": {"name": "mara"},
    }
    header = """---
title: "Austin, Texas: a city"
day: 2026-02-15
tags:
  - city
  - "no"
  - "1.5"
sources:
  - ref: memory/2026-01-15.md
    lines: 3-9
owner:
  name: mara
---

Text."""
    assert join(metadata, "Text.") == header


def test_a_body_that_looks_like_a_header_stays_the_body() -> None:
    assert split(join({}, "---\na: b\n---\n")) == ({}, "---\na: b\n---\n")


def test_frontmatter_of_hexo_needs_no_opening_line() -> None:
    assert split_any("title: 开张\ntags:\n- 跑步\n---\n\nText\n") == ({"title": "开张", "tags": ["跑步"]}, "Text\n")
    for text in (
        "title: [a\n---\nText\n",
        "Hello: you\n---\nText\n",
        "title: a\nText\n---\n",
        "Words\ntitle: a\n---\n",
    ):
        assert split_any(text) == ({}, text)
