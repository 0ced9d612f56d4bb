"""The log of everything that happened: one line for each write, and word of it to those who follow the wiki."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from db.ids import new_id
from db.sql import inserting
from db.tables import activity

from .records import Saved
from .writer import Writer

INSERT = inserting(
    activity, "tenant_id", "owner_id", "id", "at", "actor_kind", "actor_id", "action", "page_id", "detail"
)


async def record(writer: Writer, action: str, page_id: UUID | None = None, **detail: Any) -> None:
    """Who did what, now. `action` is a noun and a verb in the past: `page.created`."""
    await writer.run(INSERT, **line(writer, action, page_id, detail))
    writer.changes.add_action(action, page_id, detail.get("version") if page_id else None)


async def record_each(writer: Writer, action: str, saved: Iterable[Saved]) -> None:
    """The same of many pages: a line for each."""
    pages = list(saved)
    await writer.each(INSERT, [line(writer, action, one.page_id, {"version": one.version}) for one in pages])
    for one in pages:
        writer.changes.add_action(action, one.page_id, one.version)


def line(writer: Writer, action: str, page_id: UUID | None, detail: Mapping[str, Any]) -> dict[str, Any]:
    actor = writer.scope.actor
    return {
        "id": new_id(),
        "at": writer.now,
        "actor_kind": actor.kind.value,
        "actor_id": actor.id,
        "action": action,
        "page_id": page_id,
        "detail": {key: str(value) if isinstance(value, UUID) else value for key, value in detail.items()},
    }
