"""The order of all changes of a wiki: who follows it from a position misses none, whatever the dates of pages say.

A wiki has one writer at a time, so the next position is one more than the last, and none appears behind it later.
"""

from db.sql import statements

from .changes import ChangeKind
from .writer import Writer

POSITIONS = statements("positions")


async def advance(writer: Writer) -> None:
    """Every page that the transaction has changed moves to the end."""
    found = writer.changes.found
    if None in found and found[None].kind is ChangeKind.ARCHIVED:
        await writer.run(POSITIONS["advance_archived"])
    if page_ids := [page_id for page_id in found if page_id is not None]:
        await writer.run(POSITIONS["advance"], page_ids=page_ids)
