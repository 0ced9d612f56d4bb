"""Pages as writes read and store them, and the result of a write."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from content.markdown.sections import Section, render
from db.connection import Row
from db.sql import statements

from ..transactions.writer import Writer

PAGES = statements("pages/pages")
RECORDED = "recorded_decision"
"""The metadata field of a page that is the record of a decision. The text of such a page is never edited."""


@dataclass(frozen=True, slots=True)
class Page:
    """An immutable state of a page. A write makes the next state with `dataclasses.replace` and saves it."""

    id: UUID
    type: str
    slug: str
    title: str
    summary: str | None = None
    sections: tuple[Section, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None
    status: str = "active"
    parent_id: UUID | None = None
    version: int = 0
    last_compiled_at: datetime | None = None

    @property
    def body(self) -> str:
        return render(self.sections)

    @property
    def content(self) -> tuple[Any, ...]:
        """Return the content that a revision stores. The version increases whenever it changes."""
        return (self.slug, self.title, self.summary, self.sections, self.tags, self.metadata)

    @property
    def is_recorded(self) -> bool:
        """Return whether the page is the record of a decision."""
        return self.type == "decision" and (self.metadata or {}).get(RECORDED) is True

    @property
    def name(self) -> str:
        """Return the name of the page in messages."""
        return f'the {self.type} "{self.title}"'


@dataclass(frozen=True, slots=True)
class Saved:
    """The result of a write to a page. `changed` is false if the page had the same content already."""

    page_id: UUID
    version: int
    created: bool = False
    changed: bool = True


async def find_page(writer: Writer, page_id: UUID) -> Page | None:
    """Return a page of this wiki with its sections, or None."""
    return next(iter((await find_pages(writer, [page_id])).values()), None)


async def find_pages(writer: Writer, page_ids: Collection[UUID]) -> dict[UUID, Page]:
    """Return the pages that exist in this wiki by id, with their sections. Runs one statement."""
    if not page_ids:
        return {}
    rows = await writer.all(PAGES["find_pages"], page_ids=list(page_ids))
    for row in rows:
        writer.note_editions(row)
        writer.read_names[row["id"]] = frozenset(row["aliases"]), frozenset(row["old_slugs"])
    return {row["id"]: page_of(row) for row in rows}


def page_of(row: Row) -> Page:
    sections = orjson.loads(row["sections"] or b"[]")
    return Page(
        id=row["id"],
        type=row["type"],
        slug=row["slug"],
        title=row["title"],
        summary=row["summary"],
        sections=tuple(Section(slug, heading, body) for slug, heading, body in sections),
        tags=tuple(row["tags"]),
        metadata=row["metadata"],
        status=row["status"],
        parent_id=row["parent_page_id"],
        version=row["version"],
        last_compiled_at=row["last_compiled_at"],
    )
