"""What every write ends with, once all else is written: its lines in the log, the places of the pages that it changed
in the order of changes, and word of it to those who follow the wiki.

A wiki has one writer at a time, so the next place is one more than the last, and none appears behind it later.
"""

from db.sql import statements

from .changes import ChangeKind, announce
from .writer import Writer

CLOSING = statements("closing")


async def close(writer: Writer) -> None:
    """Log and places are one statement; on Citus a notification has to be one by itself."""
    found = writer.changes.found
    if None in found and found[None].kind is ChangeKind.ARCHIVED:
        await writer.run(CLOSING["advance_archived"])
    page_ids = [page_id for page_id in found if page_id is not None]
    if writer.lines or page_ids:
        await writer.run(
            CLOSING["close"],
            ids=[line.id for line in writer.lines],
            actions=[line.action for line in writer.lines],
            about=[line.page_id for line in writer.lines],
            details=[line.detail for line in writer.lines],
            actor_kind=writer.scope.actor.kind.value,
            actor_id=writer.scope.actor.id,
            page_ids=page_ids,
        )
    await announce(writer, writer.changes.all())
