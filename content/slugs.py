"""Slugs of pages and of sections, made from names so that a link by name and one by slug meet."""

from .limits import SLUG, quoted
from .names import normalise


class NoSlug(ValueError):
    """A title without anything to make a slug of."""


def slugify(title: str) -> str:
    """Return a slug: `Austin, Texas` → `austin-texas`. Scripts without ASCII letters keep their own."""
    slug = _joined(title, "-")
    if not slug:
        raise NoSlug(f"{quoted(title)} has no letter or digit to make a slug of: give a slug, or another title")
    return "index-page" if slug == "index" else slug


def is_slug(text: str) -> bool:
    """Return whether a given slug may stand as it is: the ones that slugify makes may, and no others."""
    return text != "index" and text != "" and _joined(text, "-") == text


def numbered(slug: str, n: int) -> str:
    """Return the slug to try when it is taken: n is 2, 3, …"""
    return _with_suffix(slug, f"-{n}", "-")


def section_slug(heading: str) -> str:
    """Return a slug: `Food recommendations` → `food_recommendations`; `section` when the heading has no letter."""
    return _joined(heading, "_") or "section"


def numbered_section(slug: str, n: int) -> str:
    """Return a slug for a heading that a page has twice: `notes` → `notes_2`."""
    return _with_suffix(slug, f"_{n}", "_")


def _joined(name: str, separator: str) -> str:
    words = normalise(name).replace("'", " ").replace("-", " ").split()
    return separator.join(words)[: SLUG.most].rstrip(separator)


def _with_suffix(slug: str, suffix: str, separator: str) -> str:
    return slug[: SLUG.most - len(suffix)].rstrip(separator) + suffix
