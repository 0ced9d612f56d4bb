"""A source as a line of JSON: evidence that comes from another system, or from an export."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .fields import BadNote
from .limits import BadText
from .moments import moment
from .values import jsonable


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """What is not given is None or empty."""

    kind: str
    ref: str
    content: str
    title: str | None = None
    captured_at: datetime | None = None
    metadata: dict[str, Any] | None = None
    version: int | None = None


def source_from_record(record: object) -> SourceRecord:
    """From `{kind, ref, content, title, captured_at, metadata, version}`; the first three must be there."""
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
    )


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
    found = moment(value) if isinstance(value, str) else None
    if found is None:
        raise BadNote(f"{name} is no date and no time: write 2026-02-15, or 2026-02-15T10:00:00Z")
    return found
