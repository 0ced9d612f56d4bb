"""Values that JSON can hold: what metadata is made of.

How much of them a caller may give is for `bounded` to say. A file may hold whatever a wiki could store.
"""

from collections.abc import Mapping
from datetime import date
from itertools import count
from math import isfinite
from typing import Any

from .limits import METADATA_DEPTH, METADATA_VALUES, BadText, clean

DEPTH_MAX = METADATA_DEPTH.stored + 8  # a file holds the metadata of a page some levels deep
INTEGERS = range(-(2**63), 2**64)


def jsonable(value: object, most: int | None = None) -> Any:
    """A copy of dicts, lists and scalars, its keys as strings. Raises BadText for anything that JSON cannot hold, and
    for more than `most` values."""
    return _jsonable(value, DEPTH_MAX, None if most is None else count(most, -1))


def bounded(value: object, *, restored: bool = False) -> Any:
    """The same of what a caller gives. Raises BadText also for more than metadata may hold."""
    depth, values = (bound.limit(restored=restored) for bound in (METADATA_DEPTH, METADATA_VALUES))
    return _jsonable(value, depth, count(values, -1))


def scalar(value: object) -> str | None:
    """A single value as it would be written: `true`, `3`; None when it is not one."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None


def _jsonable(value: object, depth: int, left: "count[int] | None") -> Any:
    """`depth` more levels, and as many values as are `left`."""
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
    """A value that metadata cannot hold, in the words of those who write notes."""
    if isinstance(value, int | float):
        return "a number of this size"
    return "binary data" if isinstance(value, bytes) else "a value of this kind"


def _key(key: object) -> str:
    name = "null" if key is None else scalar(key)
    if name is None:
        raise BadText("a key must be a single word or number, not a list or a mapping")
    return clean(name)
