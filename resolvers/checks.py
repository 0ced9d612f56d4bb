"""What a caller gives, made clean or refused with the name of the argument to mend."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson

from content.limits import SUMMARY_MAX, TAG_MAX, TAGS_MAX, TITLE_MAX, BadText, clean
from content.names import normalise
from content.slugs import SLUG_MAX, is_slug

from .errors import BadInput

ALIASES_MAX = 200
METADATA_MAX = 65_536  # bytes of JSON
NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def text(value: str, field: str, limit: int) -> str:
    """Any text that Postgres can hold, up to a number of characters."""
    try:
        value = clean(value)
    except BadText as error:
        raise BadInput(f"This cannot be stored: {error}.", field) from None
    if len(value) > limit:
        raise BadInput(f"This is {len(value):,} characters long; at most {limit:,} are possible.", field)
    return value


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


def tags(values: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, in the order given."""
    found = tuple(dict.fromkeys(line(value, f"tags.{n}", TAG_MAX) for n, value in enumerate(values)))
    if len(found) > TAGS_MAX:
        raise BadInput(f"A page can have {TAGS_MAX} tags, not {len(found)}.", "tags")
    return found


def alias(value: str, field: str = "name") -> str:
    """A name under which a page can be found."""
    value = line(value, field, TITLE_MAX)
    if not normalise(value):
        raise BadInput(f'"{value}" has neither letters nor digits, so nothing could be found by it.', field)
    return value


def aliases(values: Iterable[str]) -> tuple[str, ...]:
    found = tuple(alias(value, f"aliases.{n}") for n, value in enumerate(values))
    if len(found) > ALIASES_MAX:
        raise BadInput(f"A page can be given {ALIASES_MAX} aliases at once, not {len(found)}.", "aliases")
    return found


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


def metadata(value: dict[str, Any]) -> dict[str, Any]:
    """A document as it will come back from the database."""
    try:
        document = orjson.dumps(value)
    except TypeError as error:
        raise BadInput(f"Metadata must be plain JSON: {error}.", "metadata") from None
    if len(document) > METADATA_MAX:
        raise BadInput(f"Metadata is {len(document):,} bytes of JSON; at most {METADATA_MAX:,} fit.", "metadata")
    if NUL.search(document):
        raise BadInput("Metadata holds a NUL character, which Postgres cannot store.", "metadata")
    stored: dict[str, Any] = orjson.loads(document)
    return stored


def moment(value: datetime | None, field: str, otherwise: datetime) -> datetime:
    """A point in time, which needs a time zone."""
    if value is None:
        return otherwise
    if value.tzinfo is None:
        raise BadInput("This needs a time zone, like 2026-11-21T09:00:00Z.", field)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise BadInput("This lies outside the years 1 to 9999.", field) from None
