"""Read a page from a markdown file with frontmatter, or from a line of JSON. note_texts.py writes both.

The limits of the fields are checked where a page is written into a wiki, not here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ..limits import ALIAS, ALIASES, BODY, LINK, SLUG, SUMMARY, TAG, TAGS, TITLE, BadText, Bound, clean, quoted
from ..markdown.citations import (
    CitationMark,
    ClaimMark,
    ContradictionMark,
    take_citations,
    take_contradictions,
    take_superseded,
)
from ..names import is_slug
from ..templates import TEMPLATES
from ..values import BadNote, Fields, jsonable, parse_time
from .frontmatter import BadFrontmatter, split

__all__ = ["BadNote", "CitationMark", "Note", "check_size", "from_markdown", "from_record"]

STATUSES = ("active", "archived")
EXACT = "cairn"
TITLE_LINE = re.compile(r"\s*#[ \t]+(?P<title>[^\r\n]*?)(?:[ \t]+#+)?[ \t]*(?:[\r\n]+|\Z)")
WIKI_LINK = re.compile(r"^\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]$")


@dataclass(frozen=True, slots=True)
class Note:
    """A page in a file or a record. A missing value is None or empty.

    `links` are slugs or names of related pages, `metadata` has all other fields. A note with `redirect_to` is not a
    page, but a former name of another page. `section_slugs` are only given if they do not follow from the headings.
    """

    slug: str | None
    type: str | None
    title: str
    summary: str | None
    body: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    parent: str | None
    status: str
    links: tuple[str, ...]
    sources: tuple[CitationMark, ...]
    metadata: dict[str, Any]
    created: datetime | None = None
    updated: datetime | None = None
    former_slugs: tuple[str, ...] = ()
    redirect_to: str | None = None
    section_slugs: tuple[str, ...] = ()
    superseded: tuple[ClaimMark, ...] = ()
    contradictions: tuple[ContradictionMark, ...] = ()
    reasons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The reasons of each link in `links` that has others than the default reason."""
    merged_into: str | None = None
    """The page that this page was merged into."""
    was_merged: bool = False
    """Whether this page was merged into another page and later restored."""


def from_markdown(stem: str, text: str) -> Note:
    """Return a file's note; `stem` is the file's name without `.md`, and the title if the frontmatter has none."""
    try:
        values, body = split(clean(text.removeprefix("\ufeff")))
    except (BadFrontmatter, BadText) as error:
        raise BadNote(str(error)) from error
    return from_fields(values, body, stem)


def from_fields(values: Mapping[str, Any], body: str, stem: str = "") -> Note:
    """Return a file's note from the values of its header and its body."""
    return _note(Fields(values), ("related",), stem, body)


def from_record(record: Mapping[str, Any]) -> Note:
    """Read one line of a JSONL file. `title` and `body` are required."""
    if not isinstance(record, Mapping):
        raise BadNote("the line is not a JSON object: write {title, body, …}")
    try:
        fields = Fields(jsonable(record))
    except BadText as error:
        raise BadNote(str(error)) from error
    body = fields.values.pop("body", None)
    if not isinstance(body, str):
        raise BadNote("body is missing or not a text: give the page's markdown as a string")
    return _note(fields, ("links", "related"), "", body)


def _note(fields: Fields, link_names: tuple[str, ...], default_title: str, body: str) -> Note:
    exact = _exact(fields)
    title = fields.text("title", "name") or " ".join(default_title.split())
    if not title:
        raise BadNote("the title is missing: give one")
    note = Note(
        slug=_slug(fields),
        type=_type(fields),
        title=title,
        summary=fields.text("summary", "description"),
        body=body if exact.values.get("keeps_heading") else _without_title(title, body),
        aliases=tuple(dict.fromkeys(fields.texts("aliases") + fields.texts("alias", separator=None))),
        tags=_tags(fields),
        parent=_page_name(fields.text("parent")),
        status=_status(fields),
        links=tuple(filter(None, map(_page_name, (link for name in link_names for link in fields.texts(name))))),
        sources=take_citations(fields),
        superseded=take_superseded(fields, _without_title(title, body)),
        contradictions=take_contradictions(fields),
        created=_moment(fields, "created", "created_at"),
        updated=_moment(fields, "updated", "updated_at"),
        former_slugs=_former_slugs(fields),
        redirect_to=_page_name(fields.text("redirectTo", "redirect_to")),
        metadata=fields.values,
    )
    return _with_exact_values(note, exact)


def check_size(note: Note) -> None:
    """Raise BadNote if a part of the note is larger than any release could store.

    Only an import checks this, before it works on a note: stored notes can always be read.
    """
    _check("title", [note.title], TITLE)
    _check("slug", [note.slug or ""], SLUG)
    _check("summary", [note.summary or ""], SUMMARY)
    _check("body", [note.body], BODY)
    _check("alias", note.aliases, ALIAS)
    _check("tag", note.tags, TAG)
    _check("name of a related page", note.links, LINK)
    for name, written in (("parent", note.parent), ("redirectTo", note.redirect_to), ("merged_into", note.merged_into)):
        _check(name, [written or ""], LINK)
    for texts, bound in ((note.aliases, ALIASES), (note.tags, TAGS)):
        if len(texts) > bound.stored:
            raise BadNote(f"there are {len(texts):,} {bound.unit}: at most {bound.stored:,} are allowed")


def _check(name: str, texts: Sequence[str], bound: Bound) -> None:
    longest = max(map(len, texts), default=0)
    if longest > bound.stored:
        raise BadNote(f"the {name} has {longest:,} characters: at most {bound.stored:,} are allowed")


def _exact(fields: Fields) -> Fields:
    """Remove the field EXACT, and return its values, which the other fields could not represent exactly."""
    values = fields.values.get(EXACT)
    if not isinstance(values, dict):
        return Fields({})
    del fields.values[EXACT]
    return Fields(values)


def _with_exact_values(note: Note, exact: Fields) -> Note:
    """Return the note with the exact values in place of those that were read from the other fields."""
    values = exact.values
    fields: dict[str, Any] = {
        **{name: _exact_text(name, values[name]) for name in ("title", "summary", "parent") if name in values},
        **{name: _exact_texts(name, values[name]) for name in ("aliases", "tags", "links") if name in values},
    }
    metadata = values.get("metadata", {})
    if not isinstance(metadata, dict):
        raise BadNote(f"{EXACT}.metadata is not a mapping")
    return replace(
        note,
        **fields,
        section_slugs=_exact_texts("sections", values.get("sections", [])),
        reasons=_reasons(values.get("reasons", {})),
        merged_into=_exact_text("merged_into", values.get("merged_into")),
        was_merged=values.get("was_merged") is True,
        metadata=note.metadata | metadata,
    )


def _reasons(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise BadNote(f"{EXACT}.reasons is not a mapping")
    return {link: _exact_texts(f"reasons of {link[:80]}", reasons) for link, reasons in value.items()}


def _exact_text(name: str, value: Any) -> str | None:
    if value is None and name != "title":
        return None
    if not isinstance(value, str) or not value.strip():
        raise BadNote(f"{EXACT}.{name} is not a text")
    return value


def _exact_texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadNote(f"{EXACT}.{name} is not a list of texts")
    return tuple(value)


def _moment(fields: Fields, *names: str) -> datetime | None:
    """Remove and return the first of these fields that is a date or a time. Another value stays in the metadata."""
    for name in names:
        value = fields.values.get(name)
        found = parse_time(value) if isinstance(value, str) else None
        if found:
            del fields.values[name]
            return found
    return None


def _former_slugs(fields: Fields) -> tuple[str, ...]:
    slugs = fields.texts("former_slugs")
    for slug in slugs:
        if not all(map(is_slug, slug.split("/", 1))):
            raise BadNote(f"the former slug {quoted(slug)} cannot be one: small letters and digits, single hyphens")
    return slugs


def _slug(fields: Fields) -> str | None:
    slug = fields.text("slug")
    if slug is not None and not is_slug(slug):
        raise BadNote(f"the slug {quoted(slug)} cannot be used: small letters and digits, joined by single hyphens")
    return slug


def _type(fields: Fields) -> str | None:
    """Remove and return the type.

    An unknown type stays in the metadata as `category`, and the importer uses its default.
    """
    for name in ("type", "category"):
        value = fields.values.get(name)
        if isinstance(value, str) and value.strip().lower() in TEMPLATES:
            del fields.values[name]
            return value.strip().lower()
    if "type" in fields.values:
        fields.values.setdefault("category", fields.values["type"])
        if fields.values["category"] == fields.values["type"]:
            del fields.values["type"]
    return None


def _status(fields: Fields) -> str:
    """Remove and return the status. An unknown status, such as `draft`, stays in the metadata."""
    status = fields.values.get("status")
    known = status.strip().lower() if isinstance(status, str) else None
    if known in STATUSES:
        del fields.values["status"]
    archived = fields.values.pop("archived") if isinstance(fields.values.get("archived"), bool) else False
    return "archived" if archived or known == "archived" else "active"


def _tags(fields: Fields) -> tuple[str, ...]:
    """Remove and return the tags, which are a list, `a, b`, or `#a #b`."""
    tags = fields.texts("tags")
    words = (word for tag in tags for word in (re.split(r"[\s#]+", tag) if tag.startswith("#") else [tag]))
    return tuple(dict.fromkeys(filter(None, words)))


def _page_name(written: str | None) -> str | None:
    """Return the page's name in a link, `[[Page|text]]` → `Page`, or any other text unchanged."""
    link = WIKI_LINK.match(written or "")
    return link[1].strip() if link else written


def _without_title(title: str, body: str) -> str:
    """Return the body without a first heading that repeats the title, which many files have."""
    first = TITLE_LINE.match(body)
    return body[first.end() :] if first and first["title"].strip() == title else body
