"""Fields of a page that its frontmatter has, too: they are kept in its metadata under the names that files use."""

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
"""The name in the metadata by that of the argument."""
OLDER = {"expires_at": ("expires", "valid_until")}
"""Other names that files use for the same: what is given stands in their place."""
OF_PAGES = ("supersedes", "contradicts")
CONFIDENCES = ("low", "medium", "high")
ROLE_MAX = 100  # characters


def checked_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as metadata holds them, by their arguments; None takes one away. Raises BadInput."""
    return {name: None if given[name] in (None, "", [], ()) else clean_field(name, given[name]) for name in given}


def clean_field(name: str, value: Any) -> Any:
    match name:
        case "sensitivity":
            return validation.one_of(value, LEVELS, "sensitivity")
        case "stated_confidence":
            return validation.one_of(value, CONFIDENCES, "statedConfidence")
        case "expires_at":
            return day_or_moment(value)
        case "owner_role":
            return validation.line(value, "ownerRole", ROLE_MAX)
        case "supersedes" | "contradicts":
            return names_of_pages(value, name)
    raise BadInput(f"A page has no field of this name; it has {', '.join(NAMES)}.", name)


def day_or_moment(value: datetime | str) -> str:
    """Return a moment as files write it: a day alone when it begins then."""
    try:
        said = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise BadInput("Write a day like 2027-03-02, or a moment like 2027-03-02T10:00:00Z.", "expiresAt") from None
    moment = validation.timestamp(said, "expiresAt").astimezone(UTC)
    return moment.date().isoformat() if moment.time() == time() else moment.isoformat().replace("+00:00", "Z")


def names_of_pages(value: Sequence[str], field: str) -> list[str]:
    few = validation.check_count(value, RELATED.most, field)
    return list(dict.fromkeys(validation.line(one, f"{field}.{n}", SLUG.most + 20) for n, one in enumerate(few)))


def replace_metadata(before: Mapping[str, Any] | None, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the metadata that comes in the place of another.

    Without a word of sensitivity it says that of before: a page is not opened to more readers by whoever does not think
    of it. None, or an empty text, takes it away.
    """
    before, given = before or {}, given or {}
    if FIELD not in given:
        return {**given, **({FIELD: before[FIELD]} if FIELD in before else {})}
    return {name: value for name, value in given.items() if name != FIELD or value not in (None, "")}


def with_fields(metadata: Mapping[str, Any] | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata with these fields in it."""
    known = dict(metadata or {})
    for name, value in fields.items():
        for older in (NAMES[name], *OLDER.get(name, ())):
            known.pop(older, None)
        if value is not None:
            known[NAMES[name]] = value
    return known
