"""A file of a seed directory: an optional first line of tags, and the text."""

import re
from collections.abc import Iterable
from typing import NamedTuple

TAGS = re.compile(r"\ufeff?tags:([^\r\n]*)(?:\r\n|\r|\n|\Z)", re.IGNORECASE)


class Seed(NamedTuple):
    """`tags` is None where the file says nothing of them."""

    tags: tuple[str, ...] | None
    content: str


def read_seed(text: str) -> Seed:
    """`tags: a, b` on the first line, and what follows it."""
    found = TAGS.match(text)
    return Seed(split_tags([found[1]]), text[found.end() :]) if found else Seed(None, text.removeprefix("\ufeff"))


def split_tags(given: Iterable[str]) -> tuple[str, ...]:
    """Each once: a comma parts two tags."""
    parts = (" ".join(part.split()) for text in given for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))
