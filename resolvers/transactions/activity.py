"""The log of everything that happened: one line for each write, and word of it to those who follow the wiki.

What is recorded is kept by the writer, and written when its write ends: see closing.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from db.ids import new_id

from ..model.pages import Saved
from .writer import Line, Writer


async def record(writer: Writer, action: str, page_id: UUID | None = None, **detail: Any) -> None:
    """Who did what, now. `action` is a noun and a verb in the past: `page.created`."""
    writer.lines.append(Line(new_id(), action, page_id, detail))
    writer.changes.add_action(action, page_id, detail.get("version") if page_id else None)


async def record_each(writer: Writer, action: str, saved: Iterable[Saved]) -> None:
    """The same of many pages: a line for each."""
    for one in saved:
        await record(writer, action, one.page_id, version=one.version)
