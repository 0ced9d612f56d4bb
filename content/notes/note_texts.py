"""Write a note as a text from which the same note can be read again."""

import re
from collections.abc import Callable
from typing import Any

from .. import limits
from ..markdown.prose import mask_code
from ..values import BadNote, format_moment
from .frontmatter import join
from .notes import EXACT, Note, from_fields, from_record

# The fields of a note that its metadata must not change when the note is read again.
OWN_FIELDS = (
    "type",
    "slug",
    "status",
    "sources",
    "superseded",
    "contradictions",
    "created",
    "updated",
    "former_slugs",
    "redirect_to",
)
# The fields that are repeated in the field EXACT if they would be read as something else.
EXACT_FIELDS = ("title", "summary", "parent", "aliases", "tags", "links")

Read = Callable[[dict[str, Any]], Note]


def to_markdown(note: Note) -> str:
    """Return a file with frontmatter; it ends with a line break."""
    return join(header(note, lambda fields: from_fields(fields, note.body)), f"{note.body}\n" if note.body else "")


def to_record(note: Note) -> dict[str, Any]:
    """Return the object that a line of a `.jsonl` file holds."""
    return {**header(note, lambda fields: from_record({**fields, "body": note.body})), "body": note.body}


def header(note: Note, read: Read) -> dict[str, Any]:
    """Return the fields of a note's header.

    Values that would be read as something else are repeated exactly in the field EXACT, `cairn`.
    """
    keeps_metadata = bool(note.metadata) and is_harmless(note, read)
    metadata = {key: note.metadata[key] for key in sorted(note.metadata)} if keeps_metadata else {}
    fields = own_fields(note) | metadata | own_fields(note)
    corrections = exact_values(note, read(fields))
    return fields | {EXACT: corrections} if corrections else fields


def is_harmless(note: Note, read: Read) -> bool:
    """Return whether the metadata can stand beside the note's own fields without changing how these are read."""
    try:
        found = read(note.metadata | own_fields(note))
    except BadNote:
        return False
    return all(getattr(found, name) == getattr(note, name) for name in OWN_FIELDS)


def own_fields(note: Note) -> dict[str, Any]:
    """Return the note's own fields, without its metadata, the most interesting ones for a reader first."""
    values = {
        "title": note.title,
        "type": note.type,
        "slug": note.slug,
        "archived": note.status == "archived" or None,
        "summary": note.summary,
        "aliases": list(note.aliases),
        "tags": list(note.tags),
        "parent": note.parent,
        "related": list(note.links),
        "former_slugs": list(note.former_slugs),
        "redirectTo": note.redirect_to,
        "sources": [source.fields() for source in note.sources],
        "superseded": [claim.fields() for claim in note.superseded],
        "contradictions": [contradiction.fields() for contradiction in note.contradictions],
        "created": note.created and format_moment(note.created),
        "updated": note.updated and format_moment(note.updated),
    }
    return {name: value for name, value in values.items() if value is not None and value != []}


def exact_values(note: Note, found: Note) -> dict[str, Any]:
    """Return the exact values of the note that differ from those of `found`, the note that was read from its fields."""
    missed = [name for name in EXACT_FIELDS if getattr(note, name) != getattr(found, name)]
    values = {name: getattr(note, name) for name in missed}
    exact = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    if note.body != found.body:
        exact["keeps_heading"] = True
    if note.section_slugs:
        exact["sections"] = list(note.section_slugs)
    if note.reasons:
        exact["reasons"] = {link: list(reasons) for link, reasons in note.reasons.items()}
    if note.merged_into:
        exact["merged_into"] = note.merged_into
    if note.was_merged:
        exact["was_merged"] = True
    metadata = {key: note.metadata[key] for key in sorted(note.metadata) if key == EXACT or key not in found.metadata}
    return exact | ({"metadata": metadata} if metadata else {})


TAG = re.compile(r"(?<!\S)#([\w/-]+)")


def inline_tags(text: str) -> tuple[str, ...]:
    """Return the tags such as `#food` in a text, in order, each once whatever its case.

    Tags in code and in comments do not count, nor do numbers.
    """
    if not TAG.search(text):
        return ()
    found: dict[str, str] = {}
    for tag in filter(is_tag, (name.strip("/") for name in TAG.findall(mask_code(text)))):
        found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def is_tag(written: str) -> bool:
    return len(written) <= limits.TAG.maximum and any(character.isalpha() for character in written)
