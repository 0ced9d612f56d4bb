"""A wiki written out: its pages as notes and its sources unchanged, all of one moment."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from content.markdown.citations import CitationMark, ClaimMark, ContradictionMark, StatedMark
from content.markdown.sections import slugs
from content.names import normalise
from content.notes.notes import BadNote, Note, from_fields
from content.values import format_moment
from db.connection import Connection, Row
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..auth.owners import settings_from
from ..links.targets import PARENT, RELATED
from ..permissions import Action, authorise
from ..sources.attachments import AttachmentDraft
from ..sources.blob_files import data_of
from ..transactions.transaction import read_connection
from .attachments import exported_files
from .disk.paths import HISTORY, MENTIONS, SOURCES, Paths
from .disk.temp_database import TempDatabase
from .formats import Format
from .notes import ImportProblem, WikiRecord
from .originals import Exported, FilePlace, Files, export_file
from .results import try_part

Original = tuple[Row, Row, dict[str, UUID]]
"""The file that a page came from, what the page is now, and what its links mean where it was changed."""

BLOBS = statements("import_export/blobs")
EXPORTS = statements("import_export/exports")
IMPORTS = statements("import_export/imports")
REVISIONS = statements("pages/revisions")
ORIGIN = "imported_from"
REASON = "import"
PAGES_PER_BATCH = 200
SOURCES_PER_BATCH = 20
MENTIONS_PER_BATCH = 200
REVISIONS_PER_BATCH = 20
SIGHTINGS_PER_BATCH = 1_000
"""Also at most in one line: a name that more sources say has several."""
EMPTY = Note(
    slug=None, type=None, title="", summary=None, body="", aliases=(), tags=(), parent=None, status="active", links=(),
    sources=(), metadata={},
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageFile:
    """One page: where its file lies in the folder, and what it says."""

    path: str
    note: Note
    origin: Any = None
    """The file that it was imported from, as its metadata has it."""
    exported: Exported | None = None
    """What is written where the page came from a file that is kept."""


class Export:
    """A wiki as it was when the export began; writers go on meanwhile, and are not seen."""

    def __init__(self, database: Database, connection: Connection, scope: Scope, total: int, about: WikiRecord) -> None:
        """`total` is the number of its pages."""
        self.database, self.connection, self.total, self.about = database, connection, total, about
        self.wiki = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}

    async def pages(self) -> AsyncIterator[PageFile | ImportProblem]:
        """Every page, by type and slug, or why it cannot be read, then redirects without a page.

        Takes no more memory for more of them.
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
        """The files that pages came from, what the pages are now, and what the links of changed ones mean."""
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
        """Yield batches of rows, one at least. `start` has the columns of the order and what lies before the first."""
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
        """Return the sources that these pages name without citing them and that the wiki has after all."""
        refs = sorted({citation.ref for row in rows for citation in uncited_sources(row["metadata"])})
        found = await self.connection.all(IMPORTS["find_sources"], **self.wiki, refs=refs) if refs else ()
        return frozenset(row["ref"] for row in found)

    async def sources(self) -> AsyncIterator[dict[str, Any] | ImportProblem]:
        """Every version of every source, an older one before a newer."""
        async for rows in self.batches("list_sources", SOURCES_PER_BATCH, {"kind": "", "ref": "", "version": 0}):
            for row in rows:
                given = {**self.wiki, "source_id": row["id"]}
                file = await self.connection.one(BLOBS["find_original"], **given) if row["has_original"] else None
                if file is not None and file["is_in_folder"]:
                    file = {**file, "data": await data_of(self.database, self.wiki, file)}
                yield await asyncio.to_thread(
                    try_part, f"{SOURCES}: {row['kind']}/{row['ref']}", source_record, row, file
                )

    async def mentions(self) -> AsyncIterator[dict[str, Any] | ImportProblem]:
        """Every mention, with the sources that say it."""
        async for rows in self.batches("list_mentions", MENTIONS_PER_BATCH, {"alias": "", "status": ""}):
            for row in rows:
                async for some in self.sightings(row["id"]):
                    yield try_part(f"{MENTIONS}: {row['name']}", mention, row, some)

    def attachments(self) -> AsyncIterator[AttachmentDraft]:
        """Every file that is kept beside the pages, one in memory at a time."""
        return exported_files(self.database, self.connection, self.wiki)

    def sightings(self, mention_id: UUID) -> AsyncIterator[list[Row]]:
        """Yield batches of the sources that say a name: one batch at least, though it be empty."""
        return self.batches("list_sightings", SIGHTINGS_PER_BATCH, {"kind": "", "ref": ""}, mention_id=mention_id)

    async def histories(self) -> AsyncIterator[tuple[str, list[dict[str, Any] | ImportProblem]]]:
        """Some states of a page at once, oldest first, and where they lie in a folder."""
        with TempDatabase() as temp:
            paths = Paths(temp)
            async for rows in self.batches("list_addresses", PAGES_PER_BATCH, {"type": "", "slug": ""}):
                for row in rows:
                    path = f"{HISTORY}/{paths.take(row['type'], row['slug']).removesuffix('.md')}.jsonl"
                    async for some in self.states(row["id"], row["version"]):
                        yield path, [try_part(path, revision, row, state) for state in some]

    async def states(self, page_id: UUID, last: int) -> AsyncIterator[list[Row]]:
        """Yield the states of a page up to its last version."""
        every = range(1, last + 1)
        for start in range(0, last, REVISIONS_PER_BATCH):
            versions = every[start : start + REVISIONS_PER_BATCH]
            yield await self.connection.all(REVISIONS["find_states"], **self.wiki, page_id=page_id, versions=versions)


@asynccontextmanager
async def exporting(database: Database, scope: Scope) -> AsyncIterator[Export]:
    """Open an export of the scope's wiki, for those who may read it."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        async with connection.raw.transaction(isolation="repeatable_read", readonly=True):
            wiki = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
            total = await connection.value(EXPORTS["count_pages"], **wiki)
            row = await connection.one(EXPORTS["find_settings"], **wiki)
            assert row is not None
            yield Export(database, connection, scope, total, WikiRecord(row["language"], settings_from(row)))


def is_changed(original: Row, now: Row) -> bool:
    """Return whether a page differs from what it was when it was imported."""
    return (original["fields_hash"], original["body_hash"]) != (now["fields_hash"], now["body_hash"])


def page_files(
    rows: Sequence[Row], known: frozenset[str], originals: Mapping[UUID, Original], files: Files
) -> list[PageFile | ImportProblem]:
    """Return the files of some pages. A name can take a millisecond to compare: this belongs in a thread."""
    found = []
    for row in rows:
        path, origin = files.of_page(row["id"]), row["metadata"].get(ORIGIN)
        original = originals.get(row["id"]) if path == origin else None
        found.append(page_file(path, row, known, origin, original, files))
    return found


def page_file(
    path: str, row: Row, known: frozenset[str], origin: Any, original: Original | None, files: Files
) -> PageFile | ImportProblem:
    """The file of a page: the one that it came from, as far as it still says what the page does."""

    def make() -> PageFile:
        said = note(row, known, path)
        if original is None:
            return PageFile(path, said, origin)
        file, now, targets = original
        place = FilePlace(path, Format(file["format"]), files, targets)
        return PageFile(path, said, origin, export_file(said, file, now, place))

    return try_part(path, make)


def note(row: Row, known: frozenset[str], path: str) -> Note:
    """The note of a page's row. What names a known source without citing it stays metadata, or it would be cited.

    So does the file that the page came from, where its own cannot lie there.
    """
    metadata = {key: value for key, value in row["metadata"].items() if (key, value) != (ORIGIN, path)}
    uncited = uncited_sources(metadata)
    if known.intersection(citation.ref for citation in uncited):
        uncited = ()
    if uncited:
        del metadata["sources"]
    related = row["related"] or ()
    unanswered = [target.partition(": ") for target in row["unanswered"]]
    natural = slugs(row["headings"]) == row["section_slugs"]
    return Note(
        type=row["type"],
        slug=row["slug"],
        title=row["title"],
        summary=row["summary"],
        body=row["body_md"],
        aliases=tuple(name for name in row["names"] if normalise(name) != normalise(row["title"])),
        tags=tuple(row["tags"]),
        parent=row["parent"] or next((name for relation, _, name in unanswered if relation == PARENT), None),
        status=row["status"],
        links=(
            *(one["page"] for one in related),
            *(name for relation, _, name in unanswered if relation == RELATED),
        ),
        reasons={one["page"]: tuple(sorted(one["reasons"])) for one in related if one["reasons"] != [REASON]},
        sources=(*citation_marks(row["citations"] or ()), *uncited),
        superseded=tuple(map(superseded_claim, row["superseded"] or ())),
        contradictions=tuple(map(contradiction, row["contradictions"] or ())),
        metadata=metadata,
        created=row["created_at"],
        updated=row["updated_at"],
        former_slugs=tuple(row["former_slugs"]),
        section_slugs=() if natural else tuple(row["section_slugs"]),
        merged_into=row["merged_into"],
        was_merged=row["was_merged"],
    )


def redirect(row: Row) -> Note:
    """The note of a slug that leads to a page which is not there."""
    return replace(EMPTY, slug=row["slug"], title=row["slug"].replace("-", " "), redirect_to=row["target"])


def citation_marks(citations: Any) -> Iterator[CitationMark]:
    """Yield what the sections cite, each with its version where a newer one exists."""
    for one in citations:
        yield CitationMark(
            ref=one["ref"],
            kind=one["kind"],
            section=one["section"],
            line_start=one["line_start"],
            line_end=one["line_end"],
            summary=one["summary"],
            version=None if one["is_newest"] else one["version"],
        )


def superseded_claim(one: Mapping[str, Any]) -> ClaimMark:
    """Return a claim that a page used to make, with its sources where they are known."""
    stated, overriding = ((one[f"{name}_kind"], one[f"{name}_ref"]) for name in ("stated", "overriding"))
    return ClaimMark(
        fact=one["fact"],
        replacement=one["replacement"],
        superseded_on=datetime.fromisoformat(one["superseded_on"]),
        section=one["section"],
        heading=one["heading"],
        stated_by=stated if stated[0] else None,
        overridden_by=overriding if overriding[0] else None,
    )


def contradiction(one: Mapping[str, Any]) -> ContradictionMark:
    """Return a contradiction of a page, with the sources of its claims where they are known."""
    older, newer = (
        StatedMark(
            claim=side["claim"],
            on=datetime.fromisoformat(side["on"]),
            section=side["section"],
            support=side["support"],
            source=(side["kind"], side["ref"]) if side["kind"] else None,
        )
        for side in (one["older"], one["newer"])
    )
    at = one["resolved_at"]
    return ContradictionMark(older, newer, one["resolution"], one["reason"], at and datetime.fromisoformat(at))


def uncited_sources(metadata: Mapping[str, Any]) -> tuple[CitationMark, ...]:
    """Return the sources that a note named and the wiki did not know, if they read as they stand in the metadata."""
    named = metadata.get("sources")
    if not named or not isinstance(named, list):
        return ()
    try:
        found = from_fields({"title": "T", "sources": named}, "").sources
    except BadNote:
        return ()
    return found if [citation.fields() for citation in found] == named else ()


def mention(row: Row, sightings: Sequence[Row]) -> dict[str, Any]:
    """A name as a line holds it."""
    return {
        "name": row["name"],
        "status": row["status"],
        "page": f"/wiki/{row['page_type']}/{row['page_slug']}" if row["page_type"] else None,
        "suggested_type": row["suggested_type"],
        "first_seen_at": format_moment(row["first_seen_at"]),
        "last_seen_at": format_moment(row["last_seen_at"]),
        "sightings": [
            {"kind": one["kind"], "ref": one["ref"], "version": one["version"], "quote": one["quote"]}
            for one in sightings
        ],
    }


def revision(page: Row, row: Row) -> dict[str, Any]:
    """A state of a page as a line holds it."""
    return {
        "page": f"/wiki/{page['type']}/{page['slug']}",
        "version": row["version"],
        "title": row["title"],
        "summary": row["summary"],
        "body": row["body_md"],
        "tags": row["tags"],
        "edit_summary": row["edit_summary"],
        "author": {"kind": row["author_kind"], "id": row["author_id"]},
        "created_at": format_moment(row["created_at"]),
        "slug": row["slug"],
        "metadata": row["metadata"],
        "aliases": row["aliases"],
        "erased_at": row["erased_at"] and format_moment(row["erased_at"]),
    }


def source_record(row: Row, file: Row | None) -> dict[str, Any]:
    """A source's version as a line holds it, with the file that it was read from."""
    original = {} if file is None else {"original": original_file(file)}
    return original | {
        "kind": row["kind"],
        "ref": row["ref"],
        "version": row["version"],
        "title": row["title"],
        "captured_at": format_moment(row["captured_at"]),
        "metadata": row["metadata"],
        "content": row["content"],
    }


def original_file(file: Row) -> dict[str, Any]:
    """Return the file that a source was read from as a line holds it."""
    return {
        "media_type": file["media_type"],
        "address": file["address"],
        "sha256": file["hash"].hex(),
        "data": b64encode(file["data"]).decode(),
    }
