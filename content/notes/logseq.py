"""Read pages of Logseq: properties before the first block, blocks as bullets, and namespaces in the file name."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from posixpath import basename, dirname, splitext
from typing import Any
from urllib.parse import unquote

from ..limits import TAG, TAGS
from ..markdown.prose import mask_code
from .frontmatter import BadFrontmatter, split
from .notes import BadNote, Note, from_fields

PROPERTY = re.compile(r"(?:-[ \t]+|[ \t]+)?(?P<name>[A-Za-z][\w.-]{0,99})::(?:[ \t]+(?P<value>[^\r\n]*))?(?:\r?\n|\Z)")
REFERENCE = re.compile(r"\[\[([^\[\]\r\n]{1,500})\]\]")
BRACKETED_TAG = re.compile(r"(?<!\S)#\[\[([^\[\]\r\n]{1,500})\]\]")
JOURNAL = re.compile(r"(?P<year>\d{4})[_-](?P<month>\d\d)[_-](?P<day>\d\d)\Z")
BLOCK = re.compile(
    r"^[ \t]*(?:-[ \t]+(?P<text>[^\r\n]*)|id::[ \t]+(?P<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[ \t]*$)",
    re.MULTILINE,
)
BLOCK_REFERENCE = re.compile(r"\(\((?P<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)\)")
NOT_SHOWN = re.compile(r"[\[\]|#]|\(\(|\)\)")
SHOWN_MAX = 100
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def from_logseq(path: str, text: str) -> Note:
    """Return the note of a page. Its path tells its namespaces, and whether it is a journal."""
    try:
        header, body = split(text) if text.startswith("---") else ({}, text)
    except BadFrontmatter as error:
        raise BadNote(str(error)) from error
    properties, body = _properties(body)
    values = header | properties
    day = journal_day(path)
    *spaces, title = page_name(path, values).split("/")
    names = [*_split_names(values.pop("alias", None)), *_split_names(values.pop("aliases", None))]
    if spaces:
        names.append("/".join([*spaces, title]))
        values.setdefault("parent", "/".join(spaces))
    if day:
        names.append(journal_title(day))
        values.setdefault("created", day.isoformat())
    tags = [
        *_split_names(values.pop("tags", None)),
        *(found[1].strip() for found in BRACKETED_TAG.finditer(mask_code(body))),
    ]
    short = [tag for tag in dict.fromkeys(tags) if 0 < len(tag) <= TAG.maximum][: TAGS.maximum]
    note = from_fields(values | {"title": title.strip() or "Untitled"}, body, title)
    return replace(note, aliases=tuple(dict.fromkeys([*note.aliases, *names])), tags=tuple(short))


def page_name(path: str, values: dict[str, Any]) -> str:
    """Return the name by which links in the graph refer to the page, with its namespaces."""
    if day := journal_day(path):
        return day.isoformat()
    title = values.get("title")
    return title if isinstance(title, str) and title.strip() else file_page_name(path)


def file_page_name(path: str) -> str:
    """Return the name of a file's page: `pages/Food___Bread.md` is `Food/Bread`; older graphs write `Food%2FBread`."""
    return unquote(splitext(basename(path))[0].replace("___", "/")).strip("/")


def journal_day(path: str) -> date | None:
    """Return the day of a file in `journals/`; None for any other file."""
    found = JOURNAL.match(splitext(basename(path))[0])
    if not found or basename(dirname(path)) != "journals":
        return None
    try:
        return date(int(found["year"]), int(found["month"]), int(found["day"]))
    except ValueError:
        return None


def journal_title(day: date) -> str:
    """Return the title of a journal in Logseq's default format, `Jan 31st, 2026`, which links to it use."""
    ending = "th" if 11 <= day.day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return f"{MONTHS[day.month - 1]} {day.day}{ending}, {day.year}"


def blocks(body: str) -> Iterator[tuple[str, str]]:
    """Yield the id of each block that has one, and the text to show for a reference to the block."""
    text = ""
    for found in BLOCK.finditer(body):
        if found["id"]:
            yield found["id"], " ".join(NOT_SHOWN.sub(" ", text).split())[:SHOWN_MAX].strip()
        else:
            text = found["text"][: 10 * SHOWN_MAX]


def _properties(text: str) -> tuple[dict[str, Any], str]:
    """Return the properties of the page, and the text after them.

    The properties may also be the lines of a first block that has nothing else in it.
    """
    values: dict[str, Any] = {}
    place = 0
    found = PROPERTY.match(text)
    while found:
        if place and text[found.start()] == "-":
            break
        values[found["name"].lower()] = (found["value"] or "").strip()
        place = found.end()
        found = PROPERTY.match(text, place)
    return values, text[place:].lstrip("\r\n")


def _split_names(value: Any) -> list[str]:
    """Return the names in a list: three for `a, [[b, c]], #d`."""
    if isinstance(value, list):
        return [name for item in value for name in _split_names(item)]
    if not isinstance(value, str):
        return []
    whole = [found[1] for found in REFERENCE.finditer(value)]
    parts = REFERENCE.sub("", value).split(",")
    return [name for name in (part.strip().lstrip("#").strip() for part in [*whole, *parts]) if name]
