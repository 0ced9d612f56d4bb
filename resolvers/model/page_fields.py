"""Fields of a page that are stored in its metadata, under the names that the frontmatter of files uses."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any

from content.limits import RELATED, SLUG
from content.sensitivity import FIELD, LEVELS

from .. import validation
from ..errors import BadInput

NAMES: Mapping[str, str] = {
    "sensitivity": "sensitivity",
    "stated_confidence": "confidence",
    "expires_at": "expires_at",
    "owner_role": "owner",
    "supersedes": "supersedes",
    "contradicts": "contradicts",
}
"""The names in the metadata by argument name."""
OTHER_NAMES = {"expires_at": ("expires", "valid_until")}
"""Other names that files use for a field. Setting the field removes them from the metadata."""
PAGE_REFERENCES = ("supersedes", "contradicts")
CONFIDENCES = ("low", "medium", "high")
ROLE_MAX = 100  # characters


def checked_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cleaned fields by argument name; an empty value becomes None, which removes it. Raises BadInput."""
    return {name: None if given[name] in (None, "", [], ()) else clean_field(name, given[name]) for name in given}


def clean_field(name: str, value: Any) -> Any:
    match name:
        case "sensitivity":
            return validation.one_of(value, LEVELS, "sensitivity")
        case "stated_confidence":
            return validation.one_of(value, CONFIDENCES, "statedConfidence")
        case "expires_at":
            return format_time(value)
        case "owner_role":
            return validation.line(value, "ownerRole", ROLE_MAX)
        case "supersedes" | "contradicts":
            return clean_page_names(value, name)
    raise BadInput(f"A page has no field of this name; it has {', '.join(NAMES)}.", name)


def format_time(value: datetime | str) -> str:
    """Return a time as files write it: as a day if it is midnight UTC, otherwise as a timestamp."""
    try:
        parsed = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise BadInput("Write a day like 2027-03-02, or a moment like 2027-03-02T10:00:00Z.", "expiresAt") from None
    moment = validation.timestamp(parsed, "expiresAt").astimezone(UTC)
    return moment.date().isoformat() if moment.time() == time() else moment.isoformat().replace("+00:00", "Z")


def clean_page_names(value: Sequence[str], field: str) -> list[str]:
    names = validation.check_count(value, RELATED.maximum, field)
    return list(dict.fromkeys(validation.line(name, f"{field}.{n}", SLUG.maximum + 20) for n, name in enumerate(names)))


def replace_metadata(before: Mapping[str, Any] | None, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the metadata `given` by a caller as the replacement of the stored metadata `before`.

    Without a sensitivity in `given`, the stored one is kept, so that no caller opens a page to more readers by
    accident. None or an empty text removes the sensitivity.
    """
    before, given = before or {}, given or {}
    if FIELD not in given:
        return {**given, **({FIELD: before[FIELD]} if FIELD in before else {})}
    return {name: value for name, value in given.items() if name != FIELD or value not in (None, "")}


def with_fields(metadata: Mapping[str, Any] | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata with these fields, by argument name. A value of None removes the field."""
    known = dict(metadata or {})
    for name, value in fields.items():
        for older in (NAMES[name], *OTHER_NAMES.get(name, ())):
            known.pop(older, None)
        if value is not None:
            known[NAMES[name]] = value
    return known
