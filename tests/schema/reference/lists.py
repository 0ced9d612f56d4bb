"""Sizes and Relay connections, implemented by sorting and scanning."""

import base64
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from graphql import GraphQLError

from tests.schema.reference.rows import Row, Rows


def sized(requested: int | None, default: int, maximum: int, least: int | None = None) -> int:
    size = default if requested is None else requested
    if least is not None:
        size = max(size, least)
    if size < 0:
        raise GraphQLError("A list cannot have a negative size.")
    return min(size, maximum)


def limited(rows: Iterable[Any], limit: int | None, default: int, maximum: int = 100) -> list[Any]:
    return list(rows)[: sized(limit, default, maximum)]


class Paged:
    """A list in an order, of which a part is shown."""

    def __init__(self, rows: Rows, found: Iterable[Row], *keys: str, history: str | None = None) -> None:
        self.rows, self.keys, self.history = rows, keys, history
        self.all = rows.sorted(found, *keys)

    def part(
        self, first: int | None = None, after: str | None = None, last: int | None = None, before: str | None = None
    ) -> Row:
        if first is not None and last is not None:
            raise GraphQLError("first and last together have no meaning.")
        window = self.all
        for cursor in filter(None, (after, before)):
            self.check(cursor)
        if after is not None:
            window = [row for row in window if self.compare(row, self.read(after)) > 0]
        if before is not None:
            window = [row for row in window if self.compare(row, self.read(before)) < 0]
        size = sized(first if last is None else last, 20, 100)
        shown = window[:size] if last is None else window[max(0, len(window) - size) :]
        more = len(window) > size
        return self.shown(
            shown, more if last is None else before is not None, after is not None if last is None else more
        )

    def shown(self, rows: list[Row], following: bool, previous: bool) -> Row:
        edges = [{**row, "cursor": self.cursor(row), "node": row.get("node", row)} for row in rows]
        return {
            "edges": edges,
            "nodes": [edge["node"] for edge in edges],
            "total_count": len(self.all),
            "page_info": {
                "has_next_page": following,
                "has_previous_page": previous,
                "start_cursor": edges[0]["cursor"] if edges else None,
                "end_cursor": edges[-1]["cursor"] if edges else None,
            },
        }

    # -- cursors: base64 of ["-hubness_score,id", 3, "0191…"]

    @property
    def signature(self) -> str:
        return ",".join(self.keys)

    def cursor(self, row: Row) -> str:
        return cursor_of(row, self.keys, *([self.history] if self.history else ()))

    def read(self, cursor: str) -> list[Any]:
        name, *values = json.loads(base64.b64decode(cursor))
        if name != self.signature:
            raise GraphQLError("This cursor is of another list.")
        return list(values[: len(self.keys)])

    def check(self, cursor: str) -> None:
        """Raise GraphQLError if the cursor is of another history, or beyond the end of a list with a history."""
        history = json.loads(base64.b64decode(cursor))[1 + len(self.keys) :]
        if self.history and (history not in ([], [self.history]) or not self.all or self.is_ahead(cursor)):
            raise GraphQLError("This cursor is of another history.")

    def is_ahead(self, cursor: str) -> bool:
        return self.compare(self.all[-1], self.read(cursor)) < 0

    def compare(self, row: Row, values: list[Any]) -> int:
        for key, value in zip(self.keys, values, strict=True):
            own, other = row[key.strip("-")], value
            other = datetime.fromisoformat(value) if isinstance(own, datetime) else other
            other = UUID(value) if isinstance(own, UUID) else other
            own, other = self.rows.place(own), self.rows.place(other)
            if own != other:
                return -1 if (own < other) != key.startswith("-") else 1
        return 0


def cursor_of(row: Row, keys: Iterable[str], *more: str) -> str:
    values = [*(written(row[key.strip("-")]) for key in keys), *more]
    return base64.b64encode(json.dumps([",".join(keys), *values]).encode()).decode()


def written(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value
