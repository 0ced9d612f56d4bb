"""Read the lines of a JSONL export: revisions of pages, mentions, sources and attachments."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from ..limits import ALIAS, ALIASES, AUTHOR, BODY, EDIT_SUMMARY, SLUG, SUMMARY, TAG, TAGS, TITLE, BadText
from ..values import BadNote, jsonable, parse_time


class OriginalRecord(NamedTuple):
    """The original file of a source in an export."""

    data: bytes
    media_type: str
    address: str


class AttachmentRecord(NamedTuple):
    """An attachment of an export."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source in an export. A missing value is None."""

    kind: str
    ref: str
    content: str
    title: str | None = None
    captured_at: datetime | None = None
    metadata: dict[str, Any] | None = None
    version: int | None = None
    original: OriginalRecord | None = None


def source_from_record(record: object) -> SourceRecord:
    """Read a source from `{kind, ref, content, title, captured_at, metadata, version, original}`.

    The first three are required.
    """
    if not isinstance(record, Mapping):
        raise BadNote("the source is not a JSON object: write {kind, ref, content, …}")
    try:
        values = jsonable(record)
    except BadText as error:
        raise BadNote(str(error)) from error
    metadata = values.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise BadNote("metadata is not an object")
    return SourceRecord(
        kind=text_of(values, "kind"),
        ref=text_of(values, "ref"),
        content=text_of(values, "content"),
        title=optional_text(values, "title"),
        captured_at=moment_of(values.get("captured_at"), "captured_at"),
        metadata=metadata,
        version=version_of(values.get("version")),
        original=original_of(values.get("original")),
    )


def original_of(value: object) -> OriginalRecord | None:
    """Read a file from `{media_type, address, sha256, data}`, its bytes in base64."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadNote("original is not an object: write {media_type, address, sha256, data}")
    data = data_of(value, "the original")
    return OriginalRecord(data, text_of(value, "media_type"), text_of(value, "address"))


def attachment_from_record(record: object) -> AttachmentRecord:
    """Read an attachment from `{path, sha256, data}`, its bytes in base64."""
    if not isinstance(record, dict):
        raise BadNote("the attachment is not an object: write {path, sha256, data}")
    return AttachmentRecord(text_of(record, "path"), data_of(record, "the attachment"))


def data_of(value: Mapping[str, Any], what: str) -> bytes:
    """Return the bytes of a file from `{sha256, data}`."""
    try:
        data = b64decode(text_of(value, "data"), validate=True)
    except ValueError:
        raise BadNote(f"the data of {what} is not base64") from None
    if value.get("sha256") not in (None, sha256(data).hexdigest()):
        raise BadNote(f"{what} is not the one that was exported: its SHA-256 differs")
    return data


def text_of(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if not isinstance(value, str):
        raise BadNote(f"{name} is missing or not a text")
    return value


def optional_text(values: Mapping[str, Any], name: str) -> str | None:
    return text_of(values, name) if values.get(name) is not None else None


def version_of(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31):
        return value
    raise BadNote("version is no number from 1")


def moment_of(value: object, name: str) -> datetime | None:
    if value is None:
        return None
    found = parse_time(value) if isinstance(value, str) else None
    if found is None:
        raise BadNote(f"{name} is no date and no time: write 2026-02-15, or 2026-02-15T10:00:00Z")
    return found


AUTHORS = ("agent", "user", "compiler", "service")
VERSION_MAX = 2**31 - 2  # the highest version: the next one must fit into a 32-bit integer too


@dataclass(frozen=True, slots=True)
class RevisionRecord:
    """A revision of a page in an export. An erased revision has no text.

    `slug`, `metadata` and `aliases` are None if the revision was stored without them.
    """

    page: str
    version: int
    title: str
    summary: str | None
    body: str
    tags: tuple[str, ...]
    edit_summary: str | None
    author_kind: str
    author_id: str
    created_at: datetime
    slug: str | None = None
    metadata: dict[str, Any] | None = None
    aliases: tuple[str, ...] | None = None
    erased_at: datetime | None = None


def revision_from_record(record: object) -> RevisionRecord:
    """Read a revision of a page from a record.

    The record is `{page, version, title, summary, body, tags, edit_summary, author: {kind, id}, created_at, slug,
    metadata, aliases, erased_at}`; page, version, title, body, author and created_at are required.
    """
    if not isinstance(record, Mapping):
        raise BadNote("the revision is not a JSON object: write {page, version, title, body, author, created_at, …}")
    try:
        values = jsonable(record)
    except BadText as error:
        raise BadNote(str(error)) from error
    version, author = version_of(values.get("version")), values.get("author")
    created_at, metadata = moment_of(values.get("created_at"), "created_at"), values.get("metadata")
    if version is None or version > VERSION_MAX or created_at is None:
        raise BadNote("a revision has a version and its created_at")
    if not isinstance(author, dict) or author.get("kind") not in AUTHORS:
        raise BadNote(f"author is not {{kind, id}} with a kind of {', '.join(AUTHORS)}")
    if metadata is not None and not isinstance(metadata, dict):
        raise BadNote("metadata is not an object")
    return RevisionRecord(
        page=text_of(values, "page"),
        version=version,
        title=text_of(values, "title"),
        summary=optional_text(values, "summary"),
        body=text_of(values, "body"),
        tags=_texts(values, "tags") or (),
        edit_summary=optional_text(values, "edit_summary"),
        author_kind=author["kind"],
        author_id=text_of(author, "id"),
        created_at=created_at,
        slug=optional_text(values, "slug"),
        metadata=metadata,
        aliases=_texts(values, "aliases"),
        erased_at=moment_of(values.get("erased_at"), "erased_at"),
    )


def check_state(record: RevisionRecord) -> None:
    """Raise BadNote if a part of the revision is larger than any release could store. Imports check this."""
    texts = {
        "title": (record.title, TITLE), "summary": (record.summary, SUMMARY), "body": (record.body, BODY),
        "edit_summary": (record.edit_summary, EDIT_SUMMARY), "author.id": (record.author_id, AUTHOR),
        "slug": (record.slug, SLUG),
    }  # fmt: skip
    lists = {"tags": (record.tags, TAG, TAGS), "aliases": (record.aliases or (), ALIAS, ALIASES)}
    for name, (text, bound) in texts.items():
        if len(text or "") > bound.stored:
            raise BadNote(f"{name} has {len(text or ''):,} characters: at most {bound.stored:,} are allowed")
    for name, (items, each, all) in lists.items():
        if len(items) > all.stored or max(map(len, items), default=0) > each.stored:
            raise BadNote(f"{name} are more than {all.stored:,} texts of at most {each.stored:,} characters")


def _texts(values: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadNote(f"{name} is no list of texts")
    return tuple(value)


PROMOTED = "promoted"
STATUSES = ("open", "ignored", PROMOTED)


@dataclass(frozen=True, slots=True)
class SightingRecord:
    """A source that contains the name of a mention, and the quote that has the name."""

    kind: str
    ref: str
    version: int | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class MentionRecord:
    """A mention in an export. A missing value is None or empty. `page` is the address of a promoted mention's page."""

    name: str
    status: str = "open"
    page: str | None = None
    suggested_type: str | None = None
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None
    sightings: tuple[SightingRecord, ...] = ()


def mention_from_record(record: object) -> MentionRecord:
    """Read a mention from a record.

    The record is `{name, status, page, suggested_type, first_seen_at, last_seen_at, sightings: [{kind, ref, version,
    quote}]}`; the name is required.
    """
    if not isinstance(record, Mapping):
        raise BadNote("the mention is not a JSON object: write {name, sightings, …}")
    try:
        values = jsonable(record)
    except BadText as error:
        raise BadNote(str(error)) from error
    status = values.get("status") or "open"
    if status not in STATUSES:
        raise BadNote(f"status is none of {', '.join(STATUSES)}")
    page = optional_text(values, "page")
    if status == PROMOTED and page is None:
        raise BadNote("a promoted mention needs its page: write {name, status, page: /wiki/topic/travel}")
    sightings = values.get("sightings") or []
    if not isinstance(sightings, list):
        raise BadNote("sightings are not a list")
    return MentionRecord(
        name=text_of(values, "name"),
        status=status,
        page=page if status == PROMOTED else None,
        suggested_type=optional_text(values, "suggested_type"),
        first_seen_at=moment_of(values.get("first_seen_at"), "first_seen_at"),
        last_seen_at=moment_of(values.get("last_seen_at"), "last_seen_at"),
        sightings=tuple(map(_sighting, sightings)),
    )


def _sighting(value: object) -> SightingRecord:
    if not isinstance(value, Mapping):
        raise BadNote("a sighting is not an object: write {kind, ref, version, quote}")
    return SightingRecord(
        text_of(value, "kind"), text_of(value, "ref"), version_of(value.get("version")), optional_text(value, "quote")
    )
