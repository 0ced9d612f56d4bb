"""Validate and clean arguments. Each function raises BadInput with the name of the invalid argument."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, TypeVar

import orjson

from content.limits import (
    ALIAS,
    ALIASES,
    ALIASES_PER_CALL,
    METADATA,
    METADATA_DEPTH,
    SLUG,
    SUMMARY,
    TAG,
    TAGS,
    TITLE,
    BadText,
    clean,
)
from content.names import compose, is_slug, normalise
from content.values import copy_bounded

from .errors import BadInput

YEARS = range(2, 9999)  # without the first and last year of Python, so that a change of time zone stays in its range

T = TypeVar("T")


def check_count(values: Sequence[T], limit: int, field: str) -> Sequence[T]:
    """Return the values if they are not more than the limit. They are counted before any of them is validated."""
    if len(values) > limit:
        raise BadInput(f"These are {len(values):,}; at most {limit:,} are possible.", field)
    return values


def text(value: str, field: str, limit: int) -> str:
    """Return the cleaned text if Postgres can store it and it has at most `limit` characters."""
    if len(value) > limit:
        raise BadInput(f"This is {len(value):,} characters long; at most {limit:,} are possible.", field)
    try:
        return clean(value)
    except BadText as error:
        raise BadInput(f"This cannot be stored: {error}.", field) from None


def line(value: str, field: str, limit: int) -> str:
    """Return the text on one line, with runs of white space collapsed. It must not be empty."""
    value = " ".join(text(value, field, limit).split())
    if not value:
        raise BadInput("This may not be empty.", field)
    return value


def title(value: str, *, restored: bool = False) -> str:
    return line(value, "title", TITLE.limit(restored=restored))


def summary(value: str | None, *, restored: bool = False) -> str | None:
    return optional(value, "summary", SUMMARY.limit(restored=restored))


def optional(value: str | None, field: str, limit: int) -> str | None:
    """Return the cleaned text, or None if it is missing or blank."""
    return None if value is None else text(value, field, limit).strip() or None


def tags(values: Sequence[str], *, restored: bool = False) -> tuple[str, ...]:
    """Return the tags without repetitions, in the order given."""
    check_count(values, TAGS.limit(restored=restored), "tags")
    longest = TAG.limit(restored=restored)
    lines = (line(value, f"tags.{n}", longest) for n, value in enumerate(values))
    return tuple(dict.fromkeys(lines if restored else (compose(tag, TAG) for tag in lines)))


def alias(value: str, field: str = "name", *, restored: bool = False) -> str:
    """Return an alias on one line. It must contain a letter or a digit."""
    value = line(value, field, ALIAS.limit(restored=restored))
    if not normalise(value):
        raise BadInput(f'"{value}" has neither letters nor digits, so nothing could be found by it.', field)
    return value


def aliases(values: Sequence[str], *, restored: bool = False) -> tuple[str, ...]:
    """Return the aliases to add to a page in one call. A restored page may have as many as can be stored."""
    check_count(values, max_aliases(restored=restored), "aliases")
    return tuple(alias(value, f"aliases.{n}", restored=restored) for n, value in enumerate(values))


def max_aliases(*, restored: bool) -> int:
    return ALIASES.stored if restored else ALIASES_PER_CALL.maximum


def slug(value: str) -> str:
    value = text(compose(value, SLUG), "slug", SLUG.maximum)
    if not is_slug(value):
        raise BadInput(
            "A slug is made of small letters and digits in groups joined by single hyphens, like `austin-texas`; "
            "it is not `index`.",
            "slug",
        )
    return value


def former_slug(value: str, types: Iterable[str]) -> str:
    """Return a former slug of a page: `austin`, or with the type that the page had then, `topic/austin`."""
    type, slash, bare = value.rpartition("/")
    return f"{one_of(type, types, 'type')}/{slug(bare)}" if slash else slug(value)


def one_of(value: str, values: Iterable[str], field: str) -> str:
    if value not in (known := tuple(values)):
        raise BadInput(f"This must be one of {', '.join(known)}.", field)
    return value


def metadata(value: object, *, restored: bool = False) -> dict[str, Any]:
    """Return the metadata as the database will return it. The size is checked before the content."""
    if not isinstance(value, dict):
        raise BadInput('Metadata must be an object, like {"city": "Austin"}.', "metadata")
    try:
        size = len(orjson.dumps(value))
        max_size = METADATA.limit(restored=restored)
        if size > max_size:
            raise BadInput(f"Metadata is {size:,} bytes of JSON; at most {max_size:,} fit.", "metadata")
        document: dict[str, Any] = copy_bounded(value, restored=restored)
    except (TypeError, BadText) as error:
        raise BadInput(
            f"Metadata must be plain JSON, at most {METADATA_DEPTH.maximum} deep: {error}.", "metadata"
        ) from None
    return document


def timestamp(value: datetime, field: str) -> datetime:
    """Return a time as UTC, if its year is in YEARS. A time without a time zone is taken as UTC."""
    if value.year not in YEARS:
        raise BadInput(f"The year must lie between {YEARS[0]} and {YEARS[-1]}.", field)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Unset(Enum):
    """The type of `UNSET`, its only value."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET

Given: TypeAlias = T | Literal[Unset.UNSET]


def value_or(value: Given[T], otherwise: T) -> T:
    """Return the value, or `otherwise` if the value is UNSET."""
    return otherwise if value is UNSET else value
