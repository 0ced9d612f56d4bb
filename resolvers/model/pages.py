"""A page as the writers see it, and what they answer."""

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
"""The field of a page that is the record of a decision: its text is never edited."""


@dataclass(frozen=True, slots=True)
class Page:
    """One state of a page. The next one is made of it by `dataclasses.replace`, and then saved."""

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
        """Return what a revision stands for: when this changes, the version does."""
        return (self.slug, self.title, self.summary, self.sections, self.tags, self.metadata)

    @property
    def is_recorded(self) -> bool:
        """Return whether it is the record of a decision."""
        return self.type == "decision" and (self.metadata or {}).get(RECORDED) is True

    @property
    def name(self) -> str:
        """Return the name of the page in messages."""
        return f'the {self.type} "{self.title}"'


@dataclass(frozen=True, slots=True)
class Saved:
    """The result of a write to a page. `changed` is false when all of it stood there already."""

    page_id: UUID
    version: int
    created: bool = False
    changed: bool = True


async def find_page(writer: Writer, page_id: UUID) -> Page | None:
    """The page with its sections, of this wiki."""
    return next(iter((await find_pages(writer, [page_id])).values()), None)


async def find_pages(writer: Writer, page_ids: Collection[UUID]) -> dict[UUID, Page]:
    """Return those of the pages that this wiki has, with their sections, by their ids; one statement."""
    if not page_ids:
        return {}
    rows = await writer.all(PAGES["find_pages"], page_ids=list(page_ids))
    for row in rows:
        learn_editions(writer, row)
        writer.named[row["id"]] = frozenset(row["aliases"]), frozenset(row["old_slugs"])
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


def learn_editions(writer: Writer, row: Row) -> None:
    """Keep what was read of the wiki beside something else: it holds for as long as the transaction is alone in it."""
    writer.editions = row["language"], [(number, state) for number, state in orjson.loads(row["editions"] or b"[]")]
