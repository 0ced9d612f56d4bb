"""Keyset cursors: the values of a query's ORDER BY in one row, and the rows beyond it."""

import base64
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Text, and_, cast, func, or_, tuple_
from sqlalchemy.sql.operators import desc_op

from ..declare.arguments import sendable
from ..errors import BadInput
from .parameters import Binds, Getter


class Key(NamedTuple):
    """One term of an order."""

    value: ColumnElement[Any]
    descending: bool

    def order(self, backward: bool) -> ColumnElement[Any]:
        return self.value.desc() if self.descending != backward else self.value.asc()


def keys_of(query: Select[Any]) -> list[Key]:
    """The ORDER BY of a connection's query: not null, and the last key unique."""
    clauses = query._order_by_clauses
    assert clauses, "a connection needs an order"
    return [Key(getattr(clause, "element", clause), descending(clause)) for clause in clauses]


def descending(clause: ColumnElement[Any]) -> bool:
    return getattr(clause, "modifier", None) is desc_op


def signature(keys: Sequence[Key]) -> str:
    """Which order a cursor belongs to: "-hubness_score,id"."""
    return ",".join(f"{'-' if key.descending else ''}{name_of(key)}" for key in keys)


def name_of(key: Key) -> str:
    name: str = getattr(key.value, "name")  # noqa: B009  mypy knows the columns only
    return name


def cursor(keys: Sequence[Key]) -> ColumnElement[Any]:
    values = cast(func.json_build_array(signature(keys), *(key.value for key in keys)), Text)
    return func.translate(func.encode(func.convert_to(values, "utf8"), "base64"), "\n", "")


def beyond(keys: Sequence[Key], get: Getter, backward: bool, binds: Binds) -> ColumnElement[bool]:
    """The rows strictly after the cursor, or before it."""
    limits = [binds.add(cursor_value(get, keys, i), key.value.type) for i, key in enumerate(keys)]
    falling = [key.descending != backward for key in keys]
    if len(set(falling)) == 1:
        row, limit = tuple_(*(key.value for key in keys)), tuple_(*limits)
        return row < limit if falling[0] else row > limit
    # Directions differ, so no row comparison is possible; the first key alone still bounds the index scan.
    starts = keys[0].value <= limits[0] if falling[0] else keys[0].value >= limits[0]
    steps = [
        key.value < limit if falls else key.value > limit
        for key, limit, falls in zip(keys, limits, falling, strict=True)
    ]
    same = [key.value == limit for key, limit in zip(keys, limits, strict=True)]
    return and_(starts, or_(*(and_(*same[:i], step) for i, step in enumerate(steps))))


def cursor_value(get: Getter, keys: Sequence[Key], index: int) -> Getter:
    return lambda request: decode(get(request), keys)[index]


def check_cursor(keys: Sequence[Key], scope: Any, text: str) -> None:
    """Refuse a bad one even where nothing of its page is selected."""
    decode(text, keys)


READERS: dict[type, Callable[[Any], Any]] = {UUID: UUID, datetime: datetime.fromisoformat}
INT_MAX = 2**31 - 1


def decode(text: str, keys: Sequence[Key]) -> list[Any]:
    try:
        name, *values = json.loads(base64.b64decode(text, validate=True))
        if name != signature(keys):
            raise BadInput("This cursor is of another list, or of another order.")
        return [read(key.value.type.python_type, value) for key, value in zip(keys, values, strict=True)]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput("This is not a cursor.") from error


def read(type_: type, value: Any) -> Any:
    value = READERS.get(type_, lambda same: same)(value)
    if not isinstance(value, type_) or isinstance(value, bool) != (type_ is bool):
        raise ValueError(value)
    if isinstance(value, int) and abs(value) > INT_MAX:
        raise ValueError(value)
    if isinstance(value, datetime) and (value.tzinfo is None or not 1 < value.year < 9999):
        raise ValueError(value)
    return sendable(value) if isinstance(value, str) else value
