"""A name that is held, as a line of JSON: what sources were seen to call something that has no page yet."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from .fields import BadNote
from .limits import BadText
from .source_records import moment_of, optional_text, text_of, version_of
from .values import jsonable

STATUSES = ("open", "ignored")


@dataclass(frozen=True, slots=True)
class SightingRecord:
    """The source that says the name, and how."""

    kind: str
    ref: str
    version: int | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class MentionRecord:
    """What is not given is None or empty."""

    name: str
    status: str = "open"
    suggested_type: str | None = None
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None
    sightings: tuple[SightingRecord, ...] = ()


def mention_from_record(record: object) -> MentionRecord:
    """From `{name, status, suggested_type, first_seen_at, last_seen_at, sightings: [{kind, ref, version, quote}]}`; the
    name must be there."""
    if not isinstance(record, Mapping):
        raise BadNote("the mention is not a JSON object: write {name, sightings, …}")
    try:
        values = jsonable(record)
    except BadText as error:
        raise BadNote(str(error)) from error
    status = values.get("status") or "open"
    if status not in STATUSES:
        raise BadNote(f"status is none of {', '.join(STATUSES)}")
    sightings = values.get("sightings") or []
    if not isinstance(sightings, list):
        raise BadNote("sightings are not a list")
    return MentionRecord(
        name=text_of(values, "name"),
        status=status,
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
