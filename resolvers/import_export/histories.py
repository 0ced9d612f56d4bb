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
from lib.threads import read_in_thread

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
TOLD = temp_statements("histories")
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
        temp.make(TOLD["make_tables"])

    def add(self, piece: Piece, one: RevisionRecord) -> None:
        self.temp.put(
            TOLD["add_state"],
            page=one.page,
            version=one.version,
            label=piece.label,
            file=os.fsencode(piece.file),
            start=piece.start,
            size=piece.size,
        )

    def pages(self) -> Iterator[str]:
        for some in self.temp.some(PAGES_PER_BATCH, TOLD["list_pages"]):
            yield from (page for (page,) in some)

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
            standing = await writer.one(IMPORTS["find_first_state"], type=type, slug=slug)
            last = await self.last(page)
            if last.version != self.count(page):
                raise BadInput(f"it has {self.count(page)} versions of {last.version}: each has to be there once.")
            if standing is None or is_told(standing, last):
                return
            page_id, version = standing["id"], last.version
            if is_same(standing, last):
                await writer.run(IMPORTS["drop_first_state"], page_id=page_id)
            else:
                version += 1
                await writer.run(IMPORTS["number_first_state"], page_id=page_id, version=version)
            await insert(writer, standing, self.states(page))
            await writer.run(IMPORTS["number_page"], page_id=page_id, version=version)
            await record(writer, "history.imported", page_id, version=version)
            writer.changes.add(ChangeKind.UPDATED, page_id, version)

    def count(self, page: str) -> int:
        return self.temp.count(TOLD["count_states"], page=page)

    async def last(self, page: str) -> RevisionRecord:
        return await reread(self.temp.first(TOLD["find_last_state"], page=page) or ())

    async def states(self, page: str) -> AsyncIterator[RevisionRecord]:
        for rows in self.temp.some(1, TOLD["list_states"], page=page):
            yield await reread(rows[0])


async def reread(row: Sequence[Any]) -> RevisionRecord:
    label, file, start, size = row
    one = await asyncio.to_thread(read, Piece(label, os.fsdecode(file), start, size, is_line=True))
    assert isinstance(one, RevisionRecord)
    return one


def is_same(standing: Row, last: RevisionRecord) -> bool:
    """Return whether the page is the same as the last state of its history."""
    now = standing["title"], standing["summary"], standing["body_md"], tuple(standing["tags"])
    return now == (last.title, last.summary, last.body, last.tags) and last.erased_at is None


def is_told(standing: Row, last: RevisionRecord) -> bool:
    """Return whether the only state of the history is the page itself, by the same author at the same time."""
    who = standing["author_kind"], standing["author_id"], standing["created_at"], standing["edit_summary"]
    told = last.author_kind, last.author_id, last.created_at, last.edit_summary
    return last.version == 1 and who == told and is_same(standing, last)


async def insert(writer: Writer, standing: Row, states: AsyncIterator[RevisionRecord]) -> None:
    chain, rows, size = Chain(), [], 0
    async for one in states:
        rows.append(row(standing, one) | await chain.columns(one))
        size += len(one.body)
        if size > PIECE:
            await writer.each(INSERT, rows)
            rows, size = [], 0
    await writer.each(INSERT, rows)


def row(standing: Row, one: RevisionRecord) -> dict[str, Any]:
    return {
        "id": new_id(),
        "page_id": standing["id"],
        "version": one.version,
        "title": one.title,
        "summary": one.summary,
        "tags": one.tags,
        "edit_summary": one.edit_summary,
        "author_kind": one.author_kind,
        "author_id": one.author_id,
        "created_at": validation.timestamp(one.created_at, "created_at"),
        "erased_at": one.erased_at and validation.timestamp(one.erased_at, "erased_at"),
    }


class Chain:
    """The storage of the successive states of one page as deltas, the same as `states.compacted` stores a new state."""

    def __init__(self) -> None:
        self.base: RevisionRecord | None = None
        self.told: dict[bytes, int] = {}
        """The versions since the base that store slug, metadata and aliases, by a serialisation of these."""

    async def columns(self, one: RevisionRecord) -> dict[str, Any]:
        facts = {"slug": one.slug, "metadata": one.metadata, "aliases": one.aliases and list(one.aliases)}
        if one.erased_at:
            return {"body_md": "", **NO_BASE, **ELSEWHERE, "facts_version": None}
        base = self.base
        age = one.version - base.version if base else 0
        found = await read_in_thread(len(one.body), smaller_delta, base.body, one.body, age) if base else None
        key = orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)
        if base is None or found is None:
            self.base, self.told = one, {key: one.version}
            return {"body_md": one.body, **NO_BASE, **facts, "facts_version": None}
        told = self.told.setdefault(key, one.version)
        return {
            **(facts if told == one.version else ELSEWHERE),
            "facts_version": None if told == one.version else told,
            "body_md": "",
            "base_version": base.version,
            "base_starts": found.starts,
            "base_lengths": found.lengths,
            "base_texts": found.texts,
        }
