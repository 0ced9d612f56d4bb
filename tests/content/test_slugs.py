"""Slugs are made from titles and headings."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.limits import SLUG
from content.names import NoSlug, is_slug, numbered_section, numbered_slug, section_slug, slugify


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Austin, Texas", "austin-texas"),
        ("Momofuku Daishō", "momofuku-daisho"),
        ("Eric's Home", "eric-s-home"),
        ("  --C++ & Rust--  ", "c-rust"),
        ("日本 Guide", "日本-guide"),
        ("Йод", "йод"),
        ("Index", "index-page"),
        ("2026-04-15", "2026-04-15"),
    ],
)
def test_a_title_makes_a_slug(title: str, slug: str) -> None:
    assert slugify(title) == slug


@pytest.mark.parametrize("title", ["", "  ", "!?", "🚀", "\u3164"])
def test_titles_without_letters_are_refused(title: str) -> None:
    with pytest.raises(NoSlug, match="give a slug"):
        slugify(title)


@pytest.mark.parametrize("slug", ["a", "austin-texas", "2fa", "日本", "index-page"])
def test_valid_slugs_are_accepted(slug: str) -> None:
    assert is_slug(slug)


@pytest.mark.parametrize(
    "text", ["", "index", "A", "a--b", "-a", "a-", "a_b", "a b", "a/b", "é", "a\n", "a" * (SLUG.maximum + 1)]
)
def test_invalid_slugs_are_refused(text: str) -> None:
    assert not is_slug(text)


@given(st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True))
def test_ascii_slugs_are_valid_except_index_and_too_long_ones(slug: str) -> None:
    assert is_slug(slug) == (len(slug) <= SLUG.maximum and slug != "index")


@given(st.text())
def test_slugify_returns_valid_slugs(title: str) -> None:
    try:
        slug = slugify(title)
    except NoSlug:
        return
    assert is_slug(slug)
    assert len(slug) <= SLUG.maximum
    assert slugify(slug) == slug


@given(st.text(alphabet="ab -", min_size=1, max_size=300), st.integers(min_value=2, max_value=10**6))
def test_numbered_slugs_are_valid(title: str, n: int) -> None:
    try:
        slug = numbered_slug(slugify(title), n)
    except NoSlug:
        return
    assert is_slug(slug)
    assert slug.endswith(f"-{n}")


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Food recommendations", "food_recommendations"),
        ("Why / How?", "why_how"),
        ("日本語 の", "日本語_の"),
        ("!", "section"),
    ],
)
def test_a_heading_makes_a_section_slug(heading: str, slug: str) -> None:
    assert section_slug(heading) == slug


@given(st.text())
def test_a_section_slug_is_never_empty(heading: str) -> None:
    slug = section_slug(heading)
    assert 0 < len(slug) <= SLUG.maximum
    assert not re.search(r"__|^_|_$|\s", slug)
    assert section_slug(slug) == slug


def test_a_repeated_heading_gets_a_numbered_slug() -> None:
    assert numbered_section("notes", 2) == "notes_2"
    assert len(numbered_section("n" * SLUG.maximum, 10)) == SLUG.maximum
