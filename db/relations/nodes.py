"""Where reads by id start: a row for each id that is asked for."""

from typing import Any

from sqlalchemy import Select, Uuid, column, func, select


def one(id: Any) -> Select[Any]:
    row = select(id.label("id")).subquery()
    return select(row)


def many(ids: Any) -> Select[Any]:
    """In the order they were asked for."""
    asked: Any = column("id", Uuid)
    row = func.unnest(ids).table_valued(asked, with_ordinality="ordinality").render_derived()
    return select(row).order_by(row.c.ordinality)
