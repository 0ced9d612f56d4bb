"""Values that JSON can hold: what metadata is made of."""

from collections.abc import Mapping
from datetime import date
from itertools import count
from math import isfinite
from typing import Any

from .limits import BadText, clean

DEPTH_MAX = 32
VALUES_MAX = 20_000
INTEGERS = range(-(2**63), 2**64)


def jsonable(value: object) -> Any:
    """A copy of dicts, lists and scalars, its keys as strings. Raises BadText for anything that JSON cannot hold."""
    return _jsonable(value, 0, count())


def scalar(value: object) -> str | None:
    """A single value as it would be written: `true`, `3`; None when it is not one."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None


def _jsonable(value: object, depth: int, counter: "count[int]") -> Any:
    if depth > DEPTH_MAX:
        raise BadText(f"values are nested more than {DEPTH_MAX} deep: flatten them")
    if next(counter) >= VALUES_MAX:
        raise BadText(f"there are more than {VALUES_MAX:,} values: keep fewer")
    if isinstance(value, Mapping):
        return {_key(key): _jsonable(item, depth + 1, counter) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item, depth + 1, counter) for item in value]
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
    raise BadText(f"a {type(value).__name__} cannot be kept here: write it as a quoted string")


def _key(key: object) -> str:
    name = "null" if key is None else scalar(key)
    if name is None:
        raise BadText("a key must be a single word or number, not a list or a mapping")
    return clean(name)
