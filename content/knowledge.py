"""Read knowledge entries from seed files, and compute which entries are used most."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

TAGS = re.compile(r"\ufeff?tags:([^\r\n]*)(?:\r\n|\r|\n|\Z)", re.IGNORECASE)


class Seed(NamedTuple):
    """A knowledge entry in a seed file; `tags` is None if the file has no line of tags."""

    tags: tuple[str, ...] | None
    content: str


def read_seed(text: str) -> Seed:
    """Read a seed file: an optional first line `tags: a, b`, and the content after it."""
    found = TAGS.match(text)
    return Seed(split_tags([found[1]]), text[found.end() :]) if found else Seed(None, text.removeprefix("\ufeff"))


def split_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Split texts at commas into tags, without duplicates."""
    parts = (" ".join(part.split()) for text in texts for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


WORD = re.compile(r"[^\W_]+")


class PageUse(NamedTuple):
    """The use of a knowledge entry; `reads` is how often its text was read."""

    id: UUID
    tags: Sequence[str]
    reads: int


def hottest(entries: Iterable[PageUse], calls: Mapping[str, int], size: int) -> list[tuple[UUID, int]]:
    """Return the (id, score) of the `size` most used entries, the highest score first.

    The score of an entry is its reads plus the calls of the tools that its tags name. Entries with the score 0 are left
    out.
    """
    tools = [(words(tool), count) for tool, count in calls.items()]
    scored = ((entry.id, entry.reads + count_calls(entry.tags, tools)) for entry in entries)
    return sorted((pair for pair in scored if pair[1] > 0), key=lambda pair: (-pair[1], str(pair[0])))[:size]


def count_calls(tags: Sequence[str], tools: Sequence[tuple[frozenset[str], int]]) -> int:
    """Return the number of calls of the tools that a tag names: a tool's name has all words of such a tag."""
    tag_words = [found for found in map(words, tags) if found]
    return sum(count for tool, count in tools if any(tag <= tool for tag in tag_words))


def words(text: str) -> frozenset[str]:
    """Return the words of a name in small letters: discord and send for `discord_send` and `Discord-Send`."""
    return frozenset(WORD.findall(text.casefold()))
