"""What every write ends with, once all else is written: its lines in the log, the places of the pages that it changed
in the order of changes, how much of a hub they are, and word of it to those who follow the wiki.

A wiki has one writer at a time, so the next place is one more than the last, and none appears behind it later.
"""

from typing import Any

from db.sql import statements

from .changes import ChangeKind, announce
from .writer import Line, Writer

CLOSING = statements("closing")


async def close(writer: Writer) -> None:
    """All that is written is one statement; on Citus a notification has to be one by itself."""
    found = writer.changes.found
    if None in found and found[None].kind is ChangeKind.ARCHIVED:
        await writer.run(CLOSING["advance_archived"])
    page_ids = [page_id for page_id in found if page_id is not None]
    is_restating = bool(writer.touched or writer.counted)
    if writer.lines or page_ids or is_restating:
        await writer.run(
            CLOSING["close_restating" if is_restating else "close"],
            lines=[shown(line) for line in writer.lines],
            actor_kind=writer.scope.actor.kind.value,
            actor_id=writer.scope.actor.id,
            page_ids=page_ids,
            touched_ids=writer.touched,
            counted_ids=writer.counted,
        )
    announce(writer, writer.changes.all())


def shown(line: Line) -> dict[str, Any]:
    return {"id": line.id, "action": line.action, "page_id": line.page_id, "detail": line.detail}
