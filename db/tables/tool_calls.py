"""How often agents called which tool, and read which page by it: counted by the day, never with what was asked."""

from sqlalchemy import Column, Date

from .columns import identifier, number, scoped_table, words

tool_calls = scoped_table(
    "tool_calls",
    Column("day", Date, nullable=False, comment="in UTC"),
    words("tool"),
    identifier("page_id"),
    number("calls"),
    key=("owner_id", "day", "tool", "page_id"),
)
"""A call counts once under the nil UUID, and once under each page whose text it gave."""
