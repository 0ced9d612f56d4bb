"""The position of each page's last change in the change feed: docs/decisions/0015-changes-through-notify.md."""

from sqlalchemy import Index

from .columns import identifier, moment, number, scoped_table

page_positions = scoped_table(
    "page_positions",
    identifier("page_id"),
    number("position"),
    moment("changed_at"),
    key=("page_id",),
)
"""A page that was deleted keeps its row: that it is gone is its last change."""
Index(
    "page_positions_order_ix", page_positions.c.tenant_id, page_positions.c.owner_id, page_positions.c.position,
    unique=True,
)  # fmt: skip
