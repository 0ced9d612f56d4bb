"""Context packs as rows: the selected items, and the whole pack as text."""

from typing import Any

from sqlalchemy import (
    ARRAY,
    Boolean,
    ColumnElement,
    DateTime,
    Double,
    Integer,
    Select,
    SmallInteger,
    Text,
    Uuid,
    cast,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB

from selection.declare.mapping import OuterRow

from ..access import readable
from .json_rows import json_rows
from .search import Columns

ITEM: Columns = {
    "place": Integer(),
    "kind": Text(),
    "ref": Text(),
    "title": Text(),
    "text": Text(),
    "date": DateTime(timezone=True),
    "score": Double(),
    "tokens": Integer(),
    "is_cut": Boolean(),
    "was_said": JSONB(),
    "owner_id": Uuid(),
    "page_id": Uuid(),
    "section_id": Uuid(),
    "source_id": Uuid(),
    "position": Integer(),
    "analyser": SmallInteger(),
}
PACK: Columns = {
    "text": Text(),
    "tokens": Integer(),
    "budget_tokens": Integer(),
    "omitted": Integer(),
    "did_you_mean": Text(),
    "lists": JSONB(),
}


def items(pack: OuterRow) -> Select[Any]:
    """Select the readable items of a pack in order."""
    item = json_rows(pack.c.lists["items"], **ITEM)
    return select(item).where(readable(item.c.owner_id)).order_by(item.c.place)


def superseded(item: OuterRow) -> ColumnElement[Any]:
    """Return the superseded lines of an item as an array. The row of the step has them as a JSON array."""
    lines = select(func.jsonb_array_elements_text(item.c.was_said))
    return cast(func.array(lines.scalar_subquery()), ARRAY(Text))
