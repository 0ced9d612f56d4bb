"""Export of a wiki: its pages as notes, its sources unchanged, all from one snapshot of the database."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from content.notes.notes import Note
from db.connection import Connection, Row
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..auth.wiki_settings import settings_from
from ..permissions import Action, authorise
from ..sources.attachments import AttachmentDraft
from ..sources.blob_files import FileMissing, data_of
from ..transactions.transaction import read_connection
from .attachments import exported_files
from .disk.paths import HISTORY, MENTIONS, SOURCES, Paths
from .disk.temp_database import TempDatabase
from .exported_records import ORIGIN, mention, note, redirect, revision, source_record, uncited_sources
from .formats import Format
from .notes import ImportProblem, WikiRecord
from .originals import Exported, FilePlace, Files, export_file
from .results import try_part

Original = tuple[Row, Row, dict[str, UUID]]
"""The stored original file of a page, the hashes of the page now, and the targets of the links of a changed page."""

BLOBS = statements("import_export/blobs")
EXPORTS = statements("import_export/exports")
IMPORTS = statements("import_export/imports")
REVISIONS = statements("pages/revisions")
PAGES_PER_BATCH = 200
SOURCES_PER_BATCH = 20
MENTIONS_PER_BATCH = 200
REVISIONS_PER_BATCH = 20
SIGHTINGS_PER_BATCH = 1_000
"""The most sightings in one line, too; a mention with more sightings has several lines."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """A page as a file of the export: its path in the folder and its note."""

    path: str
    note: Note
    origin: Any = None
    """The file that the page was imported from, as stored in its metadata."""
    exported: Exported | None = None
    """The content of the file, if the original file of the page is stored."""


class Export:
    """A snapshot of a wiki at the beginning of the export. Later writes are not in it."""

    def __init__(self, database: Database, connection: Connection, scope: Scope, total: int, about: WikiRecord) -> None:
        """`total` is the number of pages, and `about` the language and settings of the wiki."""
        self.database, self.connection, self.total, self.about = database, connection, total, about
        self.wiki = scope.wiki_values

    async def pages(self) -> AsyncIterator[PageFile | ImportProblem]:
        """Yield every page by type and slug, or the reason why it cannot be written, then redirects without a page.

        Takes constant memory, whatever the number of pages.
        """
        with TempDatabase() as temp:
            paths, files = Paths(temp), Files(temp)
            async for rows in self.batches("list_addresses", PAGES_PER_BATCH, {"type": "", "slug": ""}):
                for row in rows:
                    path = paths.take(row["type"], row["slug"], row["origin"])
                    files.add(row["id"], f"/wiki/{row['type']}/{row['slug']}", path)
            async for rows in self.batches("list_pages", PAGES_PER_BATCH, {"type": "", "slug": ""}):
                known = await self.find_known_sources(rows)
                originals = await self.originals(rows)
                for file in await asyncio.to_thread(page_files, rows, known, originals, files):
                    yield file
            async for rows in self.batches("list_redirects", PAGES_PER_BATCH, {"slug": ""}):
                for row in rows:
                    path = paths.take("redirects", row["slug"], row["path"])
                    yield PageFile(path, redirect(row), row["path"])

    async def originals(self, rows: Sequence[Row]) -> dict[UUID, Original]:
        """Return the original files of these pages, their hashes now, and the link targets of changed pages."""
        page_ids = [row["id"] for row in rows]
        found = {row["page_id"]: row for row in await self.find_rows("find_originals", page_ids)}
        now = {row["id"]: row for row in await self.find_rows("find_hashes", list(found))}
        changed = [page_id for page_id, row in found.items() if is_changed(row, now[page_id])]
        targets: dict[UUID, dict[str, UUID]] = {page_id: {} for page_id in found}
        for row in await self.find_rows("find_text_targets", changed):
            targets[row["from_page_id"]][row["target"]] = row["to_page_id"]
        return {page_id: (row, now[page_id], targets[page_id]) for page_id, row in found.items()}

    async def find_rows(self, name: str, page_ids: Sequence[UUID]) -> Sequence[Row]:
        return await self.connection.all(EXPORTS[name], **self.wiki, page_ids=page_ids) if page_ids else ()

    async def batches(self, name: str, size: int, start: Mapping[str, Any], **given: Any) -> AsyncIterator[list[Row]]:
        """Yield at least one batch of rows. `start` has the columns of the order, with values before the first row."""
        place = start
        while True:
            after = {f"after_{column}": value for column, value in place.items()}
            rows = await self.connection.all(EXPORTS[name], **self.wiki, **given, **after, size=size)
            if rows or place is start:
                yield rows
            if len(rows) < size:
                return
            place = {column: rows[-1][column] for column in place}

    async def find_known_sources(self, rows: Sequence[Row]) -> frozenset[str]:
        """Return the refs of existing sources that the metadata of these pages names but the pages do not cite."""
        refs = sorted({citation.ref for row in rows for citation in uncited_sources(row["metadata"])})
        found = await self.connection.all(IMPORTS["find_sources"], **self.wiki, refs=refs) if refs else ()
        return frozenset(row["ref"] for row in found)

    async def sources(self) -> AsyncIterator[dict[str, Any] | ImportProblem]:
        """Yield every version of every source, the oldest version first; without its file, if that is missing."""
        async for rows in self.batches("list_sources", SOURCES_PER_BATCH, {"kind": "", "ref": "", "version": 0}):
            for row in rows:
                given, label = {**self.wiki, "source_id": row["id"]}, f"{SOURCES}: {row['kind']}/{row['ref']}"
                file = await self.connection.one(BLOBS["find_original"], **given) if row["has_original"] else None
                if file is not None and file["is_in_folder"]:
                    try:
                        file = {**file, "data": await data_of(self.database, self.wiki, file)}
                    except FileMissing as error:
                        yield ImportProblem(label, error.code, error.message)
                        file = None
                yield await asyncio.to_thread(try_part, label, source_record, row, file)

    async def mentions(self) -> AsyncIterator[dict[str, Any] | ImportProblem]:
        """Yield every mention, with the sources that contain it."""
        async for rows in self.batches("list_mentions", MENTIONS_PER_BATCH, {"alias": "", "status": ""}):
            for row in rows:
                async for batch in self.sightings(row["id"]):
                    yield try_part(f"{MENTIONS}: {row['name']}", mention, row, batch)

    def attachments(self) -> AsyncIterator[AttachmentDraft | ImportProblem]:
        """Yield every attachment, or the reason why it is missing, one in memory at a time."""
        return exported_files(self.database, self.connection, self.wiki)

    def sightings(self, mention_id: UUID) -> AsyncIterator[list[Row]]:
        """Yield batches of the sources that contain a mention: at least one batch, which may be empty."""
        return self.batches("list_sightings", SIGHTINGS_PER_BATCH, {"kind": "", "ref": ""}, mention_id=mention_id)

    async def histories(self) -> AsyncIterator[tuple[str, list[dict[str, Any] | ImportProblem]]]:
        """Yield batches of the states of each page, the oldest first, with the path of their file."""
        with TempDatabase() as temp:
            paths = Paths(temp)
            async for rows in self.batches("list_addresses", PAGES_PER_BATCH, {"type": "", "slug": ""}):
                for row in rows:
                    path = f"{HISTORY}/{paths.take(row['type'], row['slug']).removesuffix('.md')}.jsonl"
                    async for batch in self.states(row["id"], row["version"]):
                        yield path, [try_part(path, revision, row, state) for state in batch]

    async def states(self, page_id: UUID, last: int) -> AsyncIterator[list[Row]]:
        """Yield the states of a page up to its last version, in batches."""
        every = range(1, last + 1)
        for start in range(0, last, REVISIONS_PER_BATCH):
            versions = every[start : start + REVISIONS_PER_BATCH]
            yield await self.connection.all(REVISIONS["find_states"], **self.wiki, page_id=page_id, versions=versions)


@asynccontextmanager
async def exporting(database: Database, scope: Scope) -> AsyncIterator[Export]:
    """Open an export of the scope's wiki. Raises Forbidden or NotFound if the caller may not read it."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        async with connection.raw.transaction(isolation="repeatable_read", readonly=True):
            wiki = scope.wiki_values
            total = await connection.value(EXPORTS["count_pages"], **wiki)
            row = await connection.one(EXPORTS["find_settings"], **wiki)
            assert row is not None
            yield Export(database, connection, scope, total, WikiRecord(row["language"], settings_from(row)))


def is_changed(original: Row, now: Row) -> bool:
    """Return whether a page was changed since it was imported."""
    return (original["fields_hash"], original["body_hash"]) != (now["fields_hash"], now["body_hash"])


def page_files(
    rows: Sequence[Row], known: frozenset[str], originals: Mapping[UUID, Original], files: Files
) -> list[PageFile | ImportProblem]:
    """Return the files of some pages. Call it in a thread: comparing a name can take a millisecond."""
    found = []
    for row in rows:
        path, origin = files.of_page(row["id"]), row["metadata"].get(ORIGIN)
        original = originals.get(row["id"]) if path == origin else None
        found.append(page_file(path, row, known, origin, original, files))
    return found


def page_file(
    path: str, row: Row, known: frozenset[str], origin: Any, original: Original | None, files: Files
) -> PageFile | ImportProblem:
    """Return the file of a page. It is the original file, as far as that still agrees with the page."""

    def make() -> PageFile:
        page_note = note(row, known, path)
        if original is None:
            return PageFile(path, page_note, origin)
        file, now, targets = original
        place = FilePlace(path, Format(file["format"]), files, targets)
        return PageFile(path, page_note, origin, export_file(page_note, file, now, place))

    return try_part(path, make)
