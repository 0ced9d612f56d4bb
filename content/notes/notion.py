"""Pages as Notion exports them: a file with its id in the name, the title as the first heading, then the properties of
a row of a database."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ..names import NoSlug, slugify
from .notes import Note, from_fields

ID = re.compile(r"(?:\A|[ -])(?P<id>[0-9a-f]{32})\Z")
LINKED_ID = re.compile(r"(?P<id>[0-9a-f]{32})(?:\.md)?(?:[?#].*)?\Z")
TITLE = re.compile(r"\A\s*#[ \t]+(?P<title>[^\r\n]+?)[ \t]*(?:\r?\n|\Z)\s*")
PROPERTY = re.compile(r"(?P<name>[^:\r\n]{1,200}):[ \t](?P<value>[^\r\n]*)(?:\r?\n|\Z)")
FIELDS = ("tags", "aliases", "type", "summary", "description", "created", "updated")
"""Properties that are fields of a note whatever their case; others are metadata under their own names."""


def without_id(name: str) -> tuple[str, str | None]:
    """Return the name and the id of `Page name 0123…`; a name without one is itself."""
    found = ID.search(name)
    return (name[: found.start()].strip(), found["id"]) if found else (name, None)


def from_notion(stem: str, text: str, columns: Collection[str] = ()) -> Note:
    """Return a page's note. `columns` are the names of the properties, if it is a row of a database.

    The name of a file is cut at fifty characters, so the title is that of the heading.
    """
    name, id = without_id(stem)
    heading = TITLE.match(text)
    body = text[heading.end() :] if heading else text
    values: dict[str, Any] = {"title": heading["title"] if heading else name or "Untitled"}
    found = PROPERTY.match(body)
    while found and found["name"] in columns:
        key = found["name"].lower() if found["name"].lower() in FIELDS else found["name"]
        values.setdefault(key, found["value"].strip())
        body = body[found.end() :]
        found = PROPERTY.match(body)
    if id:
        values["notion_id"] = id
    note = from_fields(values, body.lstrip("\r\n"), name)
    return replace(note, slug=f"page-{id[:8]}") if id and not _has_slug(note.title) else note


def _has_slug(title: str) -> bool:
    """Return whether a title makes a slug: one of pictures alone does not."""
    try:
        return bool(slugify(title))
    except NoSlug:
        return False
