"""What a caller gives, made clean or refused with the name of the argument to mend."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson

from content.limits import SUMMARY_MAX, TAG_MAX, TAGS_MAX, TITLE_MAX, BadText, clean
from content.names import normalise
from content.slugs import SLUG_MAX, is_slug
from content.values import DEPTH_MAX, jsonable

from .errors import BadInput

ALIASES_MAX = 200
METADATA_MAX = 65_536  # bytes of JSON
YEARS = range(2, 9999)  # one more at either end, and a time zone could leave what Python and Postgres can both say

T = TypeVar("T")


def few(values: Sequence[T], limit: int, field: str) -> Sequence[T]:
    """No more than a number of things: counted before any of them is looked at."""
    if len(values) > limit:
        raise BadInput(f"These are {len(values):,}; at most {limit:,} are possible.", field)
    return values


def text(value: str, field: str, limit: int) -> str:
    """Any text that Postgres can hold, up to a number of characters."""
    if len(value) > limit:
        raise BadInput(f"This is {len(value):,} characters long; at most {limit:,} are possible.", field)
    try:
        return clean(value)
    except BadText as error:
        raise BadInput(f"This cannot be stored: {error}.", field) from None


def line(value: str, field: str, limit: int) -> str:
    """A text on one line, with something in it."""
    value = " ".join(text(value, field, limit).split())
    if not value:
        raise BadInput("This may not be empty.", field)
    return value


def title(value: str) -> str:
    return line(value, "title", TITLE_MAX)


def optional(value: str | None, field: str, limit: int = SUMMARY_MAX) -> str | None:
    """A text that may be left out; an empty one is none."""
    return None if value is None else text(value, field, limit).strip() or None


def tags(values: Sequence[str]) -> tuple[str, ...]:
    """Each tag once, in the order given."""
    given = few(values, TAGS_MAX, "tags")
    return tuple(dict.fromkeys(line(value, f"tags.{n}", TAG_MAX) for n, value in enumerate(given)))


def alias(value: str, field: str = "name") -> str:
    """A name under which a page can be found."""
    value = line(value, field, TITLE_MAX)
    if not normalise(value):
        raise BadInput(f'"{value}" has neither letters nor digits, so nothing could be found by it.', field)
    return value


def aliases(values: Sequence[str]) -> tuple[str, ...]:
    """Names to be added to a page at once."""
    return tuple(alias(value, f"aliases.{n}") for n, value in enumerate(few(values, ALIASES_MAX, "aliases")))


def slug(value: str) -> str:
    value = text(value, "slug", SLUG_MAX)
    if not is_slug(value):
        raise BadInput(
            "A slug is made of small letters and digits in groups joined by single hyphens, like `austin-texas`; "
            "it is not `index`.",
            "slug",
        )
    return value


def one_of(value: str, values: Iterable[str], field: str) -> str:
    if value not in (known := tuple(values)):
        raise BadInput(f"This must be one of {', '.join(known)}.", field)
    return value


def metadata(value: object) -> dict[str, Any]:
    """An object as it will come back from the database. Its size is known before anything else is looked at."""
    if not isinstance(value, dict):
        raise BadInput('Metadata must be an object, like {"city": "Austin"}.', "metadata")
    try:
        size = len(orjson.dumps(value))
        if size > METADATA_MAX:
            raise BadInput(f"Metadata is {size:,} bytes of JSON; at most {METADATA_MAX:,} fit.", "metadata")
        document: dict[str, Any] = jsonable(value)
    except (TypeError, BadText) as error:
        raise BadInput(f"Metadata must be plain JSON, at most {DEPTH_MAX} deep: {error}.", "metadata") from None
    return document


def moment(value: datetime, field: str) -> datetime:
    """A point in time that every calendar can say; without a time zone it is UTC."""
    if value.year not in YEARS:
        raise BadInput(f"The year must lie between {YEARS[0]} and {YEARS[-1]}.", field)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
