"""A state that a page had, as a line of JSON: what it said, who wrote it, when and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .fields import BadNote
from .limits import ALIAS, ALIASES, AUTHOR, BODY, EDIT_SUMMARY, SLUG, SUMMARY, TAG, TAGS, TITLE, BadText
from .source_records import moment_of, optional_text, text_of, version_of
from .values import jsonable

AUTHORS = ("agent", "user", "compiler", "service")
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
    """Raise BadNote for a state with a part that is larger than any release could store. An import asks for this."""
    texts = {
        "title": (record.title, TITLE), "summary": (record.summary, SUMMARY), "body": (record.body, BODY),
        "edit_summary": (record.edit_summary, EDIT_SUMMARY), "author.id": (record.author_id, AUTHOR),
        "slug": (record.slug, SLUG),
    }  # fmt: skip
    lists = {"tags": (record.tags, TAG, TAGS), "aliases": (record.aliases or (), ALIAS, ALIASES)}
    for name, (text, bound) in texts.items():
        if len(text or "") > bound.stored:
            raise BadNote(f"{name} has {len(text or ''):,} characters: at most {bound.stored:,} are allowed")
    for name, (listed, each, all) in lists.items():
        if len(listed) > all.stored or max(map(len, listed), default=0) > each.stored:
            raise BadNote(f"{name} are more than {all.stored:,} texts of at most {each.stored:,} characters")


def _texts(values: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadNote(f"{name} is no list of texts")
    return tuple(value)
