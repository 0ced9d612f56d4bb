"""Find sensitivity levels in the metadata of pages and sources, and at the end of sections' headings."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

FIELD = "sensitivity"
LEVELS = ("public", "internal", "confidential", "secret")
USUAL, STRICTEST = "internal", LEVELS[-1]
MARK = re.compile(r"\s?\{sensitivity=([^{}]{0,200})\}", re.IGNORECASE)


def level_of(metadata: Mapping[str, Any] | None) -> str:
    """Return the level that metadata gives. A word that is not a level counts as the strictest level."""
    value = (metadata or {}).get(FIELD)
    if value is None or value == "":
        return USUAL
    word = str(value).lower()
    return word if word in LEVELS else STRICTEST


def stricter(metadata: Mapping[str, Any] | None, *others: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the metadata, with its level raised to the strictest level of the others."""
    level = max([level_of(metadata), *map(level_of, others)], key=LEVELS.index)
    return {**(metadata or {}), **({} if level == level_of(metadata) else {FIELD: level})}


def is_stricter(metadata: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Return whether callers may read a page with the other metadata but not one with this metadata.

    All of them may read both public and internal pages.
    """
    level, other_level = (max(LEVELS.index(level_of(each)), LEVELS.index(USUAL)) for each in (metadata, other))
    return level > other_level


def strictest(levels: Iterable[str]) -> str:
    """Return the strictest of the levels, or the usual level if there are none."""
    return max(levels, key=LEVELS.index, default=USUAL)


def find_levels(text: str) -> Iterator[str]:
    """Yield the levels of the marks in a text, such as `{sensitivity=secret}` at the end of a heading."""
    for value in MARK.findall(text):
        yield level_of({FIELD: value})


def has_mark(text: str) -> bool:
    """Return whether a text contains the beginning of a mark. In a heading, even an unclosed mark hides the section."""
    return "{sensitivity=" in text.lower()


def levels_in(value: Any) -> Iterator[str]:
    """Yield all levels in a JSON value: those of its fields `sensitivity`, and of the marks in its texts."""
    if isinstance(value, str):
        yield from find_levels(value)
    elif isinstance(value, Mapping):
        if value.get(FIELD) not in (None, ""):
            yield level_of(value)
        for item in value.values():
            yield from levels_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from levels_in(item)


def strip_level(heading: str) -> str:
    """Return a heading without the mark of its level."""
    return MARK.sub("", heading).rstrip() if MARK.search(heading) else heading


def stricter_heading(heading: str, other: str) -> str:
    """Return a heading, with the mark of another one if that hides its section from more callers."""
    level, others = (strictest(find_levels(text)) for text in (heading, other))
    if not is_stricter({FIELD: others}, {FIELD: level}):
        return heading
    return f"{strip_level(heading)} {{{FIELD}={others}}}".strip()
