"""Read pages that Notion exported.

A file has the id of the page in its name and the title as its first heading. The properties follow if the page is a row
of a database.
"""

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
"""The properties that are fields of a note, whatever their case.

Other properties are metadata under their own names.
"""


def without_id(name: str) -> tuple[str, str | None]:
    """Split `Page name 0123…` into the name and the id, which is None for a name without one."""
    found = ID.search(name)
    return (name[: found.start()].strip(), found["id"]) if found else (name, None)


def from_notion(stem: str, text: str, columns: Collection[str] = ()) -> Note:
    """Return the note of a page. `columns` are the names of its properties, if it is a row of a database.

    Notion cuts the name of a file at fifty characters, so the title is taken from the heading.
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
    """Return whether a slug can be made from a title. A title of emoji alone gives none."""
    try:
        return bool(slugify(title))
    except NoSlug:
        return False
