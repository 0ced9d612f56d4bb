"""Read values that files and clients write: fields of notes, JSON values, dates and times."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from itertools import count
from math import isfinite
from typing import Any

from .limits import METADATA_DEPTH, METADATA_VALUES, BadText, clean

DEPTH_MAX = METADATA_DEPTH.stored + 8  # a file nests the metadata of a page some levels deep
INTEGERS = range(-(2**63), 2**64)


def jsonable(value: object, values_max: int | None = None) -> Any:
    """Return a copy of dicts, lists and scalars that JSON can represent, with its keys as strings.

    Raises BadText for a value that JSON cannot represent, for too many levels, and for more than `values_max` values.
    """
    return _jsonable(value, DEPTH_MAX, None if values_max is None else count(values_max, -1))


def copy_bounded(value: object, *, restored: bool = False) -> Any:
    """Copy a caller's value as `jsonable` does. Raises BadText also above the limits of metadata."""
    depth, values = (bound.limit(restored=restored) for bound in (METADATA_DEPTH, METADATA_VALUES))
    return _jsonable(value, depth, count(values, -1))


def scalar(value: object) -> str | None:
    """Return a string, a number or a boolean as text, such as `true` or `3`; None for any other value."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None


def _jsonable(value: object, depth: int, left: "count[int] | None") -> Any:
    """Copy a value that has at most `depth` levels below it. `left` counts down the values that are still allowed."""
    if depth < 0:
        raise BadText("values are nested too deep: flatten them")
    if left is not None and next(left) <= 0:
        raise BadText("there are too many values: keep fewer")
    if isinstance(value, Mapping):
        return {_key(key): _jsonable(item, depth - 1, left) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item, depth - 1, left) for item in value]
    return _scalar(value)


def _scalar(value: object) -> str | float | None:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value in INTEGERS:
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    raise BadText(f"{kind_of(value)} cannot be kept here: write it as a quoted string")


def kind_of(value: object) -> str:
    """Return the words of an error message for a value that metadata cannot hold."""
    if isinstance(value, int | float):
        return "a number of this size"
    return "binary data" if isinstance(value, bytes) else "a value of this kind"


def _key(key: object) -> str:
    name = "null" if key is None else scalar(key)
    if name is None:
        raise BadText("a key must be a single word or number, not a list or a mapping")
    return clean(name)


class BadNote(ValueError):
    """A note cannot become a page. The message says what to fix."""


class Fields:
    """The fields of a note. The methods return a field and remove it from `values`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)

    def text(self, *names: str) -> str | None:
        """Remove the first of these fields that has a value, and return it as one line. Later fields stay."""
        for name in names:
            value = _unwrap(self.values.get(name))
            if value is None or value == "":
                self.values.pop(name, None)
                continue
            text = scalar(value)
            if text is None:
                raise BadNote(f"{name} is not a single text: write it as one")
            del self.values[name]
            return " ".join(text.split()) or None
        return None

    def texts(self, name: str, separator: str | None = ",") -> tuple[str, ...]:
        """Remove a list, or a text with separators, and return its texts without duplicates.

        If `separator` is None, a text is not split.
        """
        value = self.values.pop(name, None)
        if isinstance(value, str):
            value = value.split(separator) if separator else [value]
        stripped = (text.strip() for text in _flatten(name, value))
        return tuple(dict.fromkeys(filter(None, stripped)))


def _unwrap(value: Any) -> Any:
    """Return the only item of a list, or of lists in it: YAML reads an unquoted `[[Page]]` as a list in a list."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def _flatten(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _flatten(name, item)
    elif value is not None:
        text = scalar(value)
        if text is None:
            raise BadNote(f"{name} holds something that is no text: write a list of texts")
        yield text


DATE_OR_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?: ?(?:[Zz]|[+-]\d\d:?\d\d))?)?")


def parse_time(text: str) -> datetime | None:
    """Parse a date or a time into a moment, in UTC if it has no zone; return None for any other text.

    A date becomes its first moment. The years 1 and 9999 are refused, because they are used as placeholders: the
    database takes their ends for infinity, and other zones cannot represent them.
    """
    if not DATE_OR_TIME.fullmatch(text.strip()):
        return None
    try:
        moment = datetime.fromisoformat(text.strip().upper().replace(" ", "T", 1).replace(" ", ""))
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if 1 < moment.year < 9999 else None


def format_moment(moment: datetime) -> str:
    """Return a short text that `parse_time` reads as the same moment: `2026-02-15`, `2026-02-15T10:00:00Z`."""
    moment = moment.astimezone(UTC)
    if moment.timetz() == time(tzinfo=UTC):
        return moment.date().isoformat()
    return moment.replace(tzinfo=None).isoformat() + "Z"
