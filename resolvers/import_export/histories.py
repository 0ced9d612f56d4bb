"""Import of the histories of pages from an export, for pages that have no history of their own yet."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import orjson

from content.notes.records import RevisionRecord
from content.values import BadNote
from db.connection import Row
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import inserting, statements
from db.tables import PAGE_TYPES, revisions
from lib.threads import offload

from .. import validation
from ..errors import BadInput, Forbidden
from ..pages.revision_store import ELSEWHERE, NO_BASE, smaller_delta
from ..subscriptions.changes import ChangeKind
from ..transactions.transaction import writing
from ..transactions.writer import Writer, record
from .disk.paths import HISTORY
from .disk.temp_database import TempDatabase, temp_statements
from .notes import ImportProblem, Piece, read
from .results import Problems

IMPORTS = statements("import_export/imports")
STATES = temp_statements("histories")
EXACT = "/wiki/"
PAGES_PER_BATCH = 100
PIECE = 1_000_000  # characters that one statement writes
INSERT = inserting(
    revisions, "tenant_id", "owner_id", "id", "page_id", "version", "title", "summary", "body_md", "tags",
    "edit_summary", "author_kind", "author_id", "created_at", "base_version", "base_starts", "base_lengths",
    "base_texts", "slug", "metadata", "aliases", "facts_version", "erased_at",
)  # fmt: skip


class Histories:
    """The places of the former states of pages in the export, by the address of the page and the version."""

    def __init__(self, temp: TempDatabase) -> None:
        self.temp = temp
        temp.make(STATES["make_tables"])

    def add(self, piece: Piece, revision: RevisionRecord) -> None:
        self.temp.put(
            STATES["add_state"],
            page=revision.page,
            version=revision.version,
            label=piece.label,
            file=os.fsencode(piece.file),
            start=piece.start,
            size=piece.size,
        )

    def pages(self) -> Iterator[str]:
        for batch in self.temp.batches(PAGES_PER_BATCH, STATES["list_pages"]):
            yield from (page for (page,) in batch)

    async def write(self, database: Database, scope: Scope, problems: Problems) -> None:
        """Write the history of each page in a transaction of its own; histories that are refused become problems.

        Only admins may import histories, because a history says who wrote what.
        """
        if (page := next(self.pages(), None)) and not scope.spans_tenant:
            message = "only admins bring histories along: they say who wrote what. The pages are there without them."
            problems.append(ImportProblem(HISTORY, Forbidden.code, message))
            return
        for page in self.pages():
            try:
                await self.write_page(database, scope, page)
            except (BadInput, BadNote, OSError) as error:
                problems.append(ImportProblem(page, BadInput.code, f"its history cannot be told: {error}"))

    async def write_page(self, database: Database, scope: Scope, page: str) -> None:
        """Write the history of a page that was not changed since it was created.

        If the page differs from the last state of its history, the page becomes a further version.
        """
        type, _, slug = page.removeprefix(EXACT).partition("/")
        if type not in PAGE_TYPES:
            raise BadInput(f"{page} is no page: write /wiki/topic/travel.", "page")
        async with writing(database, scope) as writer:
            current = await writer.one(IMPORTS["find_first_state"], type=type, slug=slug)
            last = await self.last(page)
            if last.version != self.count(page):
                raise BadInput(f"it has {self.count(page)} versions of {last.version}: each has to be there once.")
            if current is None or is_complete(current, last):
                return
            page_id, version = current["id"], last.version
            if is_same(current, last):
                await writer.run(IMPORTS["drop_first_state"], page_id=page_id)
            else:
                version += 1
                await writer.run(IMPORTS["number_first_state"], page_id=page_id, version=version)
            await insert(writer, current, self.states(page))
            await writer.run(IMPORTS["number_page"], page_id=page_id, version=version)
            await record(writer, "history.imported", page_id, version=version)
            writer.changes.add(ChangeKind.UPDATED, page_id, version)

    def count(self, page: str) -> int:
        return self.temp.count(STATES["count_states"], page=page)

    async def last(self, page: str) -> RevisionRecord:
        return await reread(self.temp.first(STATES["find_last_state"], page=page) or ())

    async def states(self, page: str) -> AsyncIterator[RevisionRecord]:
        for rows in self.temp.batches(1, STATES["list_states"], page=page):
            yield await reread(rows[0])


async def reread(row: Sequence[Any]) -> RevisionRecord:
    label, file, start, size = row
    revision = await asyncio.to_thread(read, Piece(label, os.fsdecode(file), start, size, is_line=True))
    assert isinstance(revision, RevisionRecord)
    return revision


def is_same(current: Row, last: RevisionRecord) -> bool:
    """Return whether the page is the same as the last state of its history."""
    now = current["title"], current["summary"], current["body_md"], tuple(current["tags"])
    return now == (last.title, last.summary, last.body, last.tags) and last.erased_at is None


def is_complete(current: Row, last: RevisionRecord) -> bool:
    """Return whether the only state of the history is the page itself, by the same author at the same time."""
    author = current["author_kind"], current["author_id"], current["created_at"], current["edit_summary"]
    last_author = last.author_kind, last.author_id, last.created_at, last.edit_summary
    return last.version == 1 and author == last_author and is_same(current, last)


async def insert(writer: Writer, current: Row, states: AsyncIterator[RevisionRecord]) -> None:
    chain, rows, size = Chain(), [], 0
    async for revision in states:
        rows.append(row(current, revision) | await chain.columns(revision))
        size += len(revision.body)
        if size > PIECE:
            await writer.each(INSERT, rows)
            rows, size = [], 0
    await writer.each(INSERT, rows)


def row(current: Row, revision: RevisionRecord) -> dict[str, Any]:
    return {
        "id": new_id(),
        "page_id": current["id"],
        "version": revision.version,
        "title": revision.title,
        "summary": revision.summary,
        "tags": revision.tags,
        "edit_summary": revision.edit_summary,
        "author_kind": revision.author_kind,
        "author_id": revision.author_id,
        "created_at": validation.timestamp(revision.created_at, "created_at"),
        "erased_at": revision.erased_at and validation.timestamp(revision.erased_at, "erased_at"),
    }


class Chain:
    """The storage of the successive states of one page as deltas, as `revision_store` stores a new revision."""

    def __init__(self) -> None:
        self.base: RevisionRecord | None = None
        self.facts_versions: dict[bytes, int] = {}
        """The versions since the base that store slug, metadata and aliases, by a serialisation of these."""

    async def columns(self, revision: RevisionRecord) -> dict[str, Any]:
        facts = {
            "slug": revision.slug,
            "metadata": revision.metadata,
            "aliases": revision.aliases and list(revision.aliases),
        }
        if revision.erased_at:
            return {"body_md": "", **NO_BASE, **ELSEWHERE, "facts_version": None}
        base = self.base
        age = revision.version - base.version if base else 0
        found = await offload(len(revision.body), smaller_delta, base.body, revision.body, age) if base else None
        key = orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)
        if base is None or found is None:
            self.base, self.facts_versions = revision, {key: revision.version}
            return {"body_md": revision.body, **NO_BASE, **facts, "facts_version": None}
        facts_version = self.facts_versions.setdefault(key, revision.version)
        return {
            **(facts if facts_version == revision.version else ELSEWHERE),
            "facts_version": None if facts_version == revision.version else facts_version,
            "body_md": "",
            "base_version": base.version,
            "base_starts": found.starts,
            "base_lengths": found.lengths,
            "base_texts": found.texts,
        }
