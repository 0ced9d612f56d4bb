"""What a source's metadata says. It comes from outside: what fits no use is passed over."""

from collections.abc import Iterator, Mapping
from typing import Any

from content.limits import TAG_MAX
from content.names import ALIAS_MAX

from ..planner import SourceText
from .text import normalised

NAMED = ("place", "city", "person", "project", "journal")
TAGS_MAX = 20
VALUES_MAX = 20


def named(source: SourceText) -> Iterator[tuple[str, str]]:
    """(kind, name): place, city, person, project, journal, tag and title."""
    for kind in NAMED:
        yield from ((kind, name) for name in texts(source.metadata, kind))
    yield from (("journal", name) for name in texts(source.metadata, "journal_id") if not is_number(name))
    yield from (("person", name) for name in texts(source.metadata, "people"))
    yield from (("tag", tag) for tag in tags(source))
    if title := short(source.title):
        yield "title", title


def texts(metadata: Mapping[str, Any], key: str) -> list[str]:
    """A text, a list of them, or a mapping with a name."""
    value = metadata.get(key)
    values = value[:VALUES_MAX] if isinstance(value, list | tuple) else [value]
    return [name for one in values if (name := short(one.get("name") if isinstance(one, Mapping) else one))]


def tags(source: SourceText) -> list[str]:
    return tags_in(source.metadata)


def tags_in(metadata: Mapping[str, Any]) -> list[str]:
    """As they are written, each once; `a, b` is two."""
    value = metadata.get("tags")
    values = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    found = (one.strip().lstrip("#") for one in values[:TAGS_MAX] if isinstance(one, str))
    return list(dict.fromkeys(tag for tag in found if tag and len(tag) <= TAG_MAX and normalised(tag)))


def short(value: object) -> str | None:
    """A text of one line that can be a name."""
    name = " ".join(value.split()) if isinstance(value, str) else ""
    return name if name and len(name) <= ALIAS_MAX and normalised(name) else None


def is_number(name: str) -> bool:
    """An identifier that nobody would read as a title."""
    return any(map(str.isdigit, name)) and " " not in name
