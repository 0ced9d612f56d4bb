"""A state that a page had, as a line of JSON: what it said, who wrote it, when and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .fields import BadNote
from .limits import BODY_MAX, SUMMARY_MAX, TITLE_MAX, BadText
from .source_records import moment_of, text_of, version_of
from .values import jsonable

AUTHORS = ("agent", "user", "compiler", "service")
AUTHOR_MAX = 500
LAST = 2**31 - 2  # one more has to be possible


@dataclass(frozen=True, slots=True)
class RevisionRecord:
    """`slug`, `metadata` and `aliases` are None where nobody kept them. An erased state has no text."""

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
    """From `{page, version, title, summary, body, tags, edit_summary, author: {kind, id}, created_at, slug, metadata,
    aliases, erased_at}`; page, version, title, body, author and created_at must be there."""
    if not isinstance(record, Mapping):
        raise BadNote("the revision is not a JSON object: write {page, version, title, body, author, created_at, …}")
    try:
        values = jsonable(record)
    except BadText as error:
        raise BadNote(str(error)) from error
    version, author = version_of(values.get("version")), values.get("author")
    created_at, metadata = moment_of(values.get("created_at"), "created_at"), values.get("metadata")
    if version is None or version > LAST or created_at is None:
        raise BadNote("a revision has a version and its created_at")
    if not isinstance(author, dict) or author.get("kind") not in AUTHORS:
        raise BadNote(f"author is not {{kind, id}} with a kind of {', '.join(AUTHORS)}")
    if metadata is not None and not isinstance(metadata, dict):
        raise BadNote("metadata is not an object")
    return RevisionRecord(
        page=_text(values, "page", TITLE_MAX),
        version=version,
        title=_text(values, "title", TITLE_MAX),
        summary=_optional(values, "summary", SUMMARY_MAX),
        body=_text(values, "body", BODY_MAX),
        tags=_texts(values, "tags") or (),
        edit_summary=_optional(values, "edit_summary", SUMMARY_MAX),
        author_kind=author["kind"],
        author_id=_text(author, "id", AUTHOR_MAX),
        created_at=created_at,
        slug=_optional(values, "slug", TITLE_MAX),
        metadata=metadata,
        aliases=_texts(values, "aliases"),
        erased_at=moment_of(values.get("erased_at"), "erased_at"),
    )


def _text(values: Mapping[str, Any], name: str, limit: int) -> str:
    value = text_of(values, name)
    if len(value) > limit:
        raise BadNote(f"{name} has {len(value):,} characters: at most {limit:,} are possible")
    return value


def _optional(values: Mapping[str, Any], name: str, limit: int) -> str | None:
    return _text(values, name, limit) if values.get(name) is not None else None


def _texts(values: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) and len(one) <= TITLE_MAX for one in value):
        raise BadNote(f"{name} is no list of texts of at most {TITLE_MAX} characters")
    return tuple(value)
