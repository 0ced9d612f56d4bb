"""Topics of a knowledge base, and how hot each page is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

TAGS = re.compile(r"\ufeff?tags:([^\r\n]*)(?:\r\n|\r|\n|\Z)", re.IGNORECASE)


class Seed(NamedTuple):
    """A page of a knowledge base as its file has it; `tags` is None where the file says nothing of them."""

    tags: tuple[str, ...] | None
    content: str


def read_seed(text: str) -> Seed:
    """Read `tags: a, b` on the first line, and what follows it."""
    found = TAGS.match(text)
    return Seed(split_tags([found[1]]), text[found.end() :]) if found else Seed(None, text.removeprefix("\ufeff"))


def split_tags(given: Iterable[str]) -> tuple[str, ...]:
    """Return the tags, each once: a comma separates two."""
    parts = (" ".join(part.split()) for text in given for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


WORD = re.compile(r"[^\W_]+")


class PageUse(NamedTuple):
    """A page of a knowledge base; `reads` is how often its text was asked for."""

    id: UUID
    tags: Sequence[str]
    reads: int


def hottest(entries: Iterable[PageUse], calls: Mapping[str, int], size: int) -> list[tuple[UUID, int]]:
    """Return (id, score), the highest first: the calls of each tool that a tag names, and the entry's own reads.

    What has neither is not hot.
    """
    tools = [(words(tool), count) for tool, count in calls.items()]
    scored = ((entry.id, entry.reads + count_calls(entry.tags, tools)) for entry in entries)
    return sorted((one for one in scored if one[1] > 0), key=lambda one: (-one[1], str(one[0])))[:size]


def count_calls(tags: Sequence[str], tools: Sequence[tuple[frozenset[str], int]]) -> int:
    """Count the calls of tools that a tag names: all of its words are among those of the tool's name."""
    spoken = [found for found in map(words, tags) if found]
    return sum(count for tool, count in tools if any(tag <= tool for tag in spoken))


def words(text: str) -> frozenset[str]:
    """Return the words of a name: discord, send of `discord_send` and `Discord-Send`."""
    return frozenset(WORD.findall(text.casefold()))
