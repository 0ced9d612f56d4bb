"""Store immutable sources, cite them in sections of pages, and forget them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from content.ingest.extraction import MEDIA_TYPES
from content.ingest.flags import flags
from content.limits import ADDRESS, CITATION_SUMMARY, CONTENT, FORGET_REASON, REF, SLUG, SOURCE_TITLE
from content.sensitivity import FIELD
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements
from db.tables import SOURCE_KINDS
from lib.threads import offload

from .. import validation
from ..errors import BadInput, NotFound
from ..jobs.queue import enqueue
from ..permissions import Action, authorise
from ..proposals.operations import proposable
from ..search.passages import IndexedSource, count_passage_words, drop_passages, write_passages
from ..tenants.tenants import is_compiling
from ..transactions.transaction import read_connection, writing, writing_page, writing_row
from ..transactions.writer import Writer, record
from .blob_files import drop_files
from .blobs import CheckedOriginal, OriginalDraft, drop_originals, hash_of, keep_original
from .grounding import ground

SECTIONS = statements("pages/sections")
SOURCES = statements("sources/sources")
NO_SOURCE = "There is no such source in this wiki."


class SourceForgotten(BadInput):
    """The content was forgotten, so it is not stored again, for example by the next import of the same folder."""

    code = "SOURCE_FORGOTTEN"

    def __init__(self) -> None:
        super().__init__(
            "A source of this kind and ref that said just this was forgotten, so it is not kept again. "
            "Give it another ref if it is wanted after all.",
            "content",
        )


@dataclass(frozen=True, slots=True)
class SourceDraft:
    """A source to store. `ref` is its id in the system that it comes from, `captured_at` when it was recorded there.

    `version` is its version in the wiki that it was exported from. If this wiki has that version with the same content,
    the source is stored already.
    """

    kind: str
    ref: str
    content: str
    title: str | None = None
    captured_at: datetime | None = None
    metadata: dict[str, Any] | None = None
    version: int | None = None
    original: OriginalDraft | None = None
    """The file that the content was read from. Different bytes make a new version even if the content is the same."""
    restored: bool = False
    """Whether the draft comes from an export: its parts may then be as large as stored sources could ever be."""


@dataclass(frozen=True, slots=True)
class SavedSource:
    """The current version of a source. `created` is false if the same content was stored already."""

    source_id: UUID
    version: int
    created: bool


@dataclass(frozen=True, slots=True)
class Citation:
    """The result of citing a source in a section. `changed` is false if the same citation existed already."""

    page_id: UUID
    section_id: UUID
    source_id: UUID
    changed: bool


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A validated draft of a source. The fields are named like the columns."""

    kind: str
    ref: str
    content: str
    checksum: bytes
    title: str | None
    metadata: dict[str, Any]
    captured_at: datetime | None
    version: int | None


def checked_source(draft: SourceDraft) -> CheckedSource:
    """Validate a draft, as far as that does not depend on the content of the wiki. Raises BadInput."""
    kind, restored = validation.one_of(draft.kind, SOURCE_KINDS, "kind"), draft.restored
    ref = validation.line(draft.ref, "ref", REF.limit(restored=restored))
    content = validation.text(draft.content, "content", CONTENT.limit(restored=restored))
    if not content.strip():
        raise BadInput("The content of a source must not be empty.", "content")
    return CheckedSource(
        kind=kind,
        ref=ref,
        content=content,
        checksum=sha256(content.encode()).digest(),
        title=validation.optional(draft.title, "title", SOURCE_TITLE.limit(restored=restored)),
        metadata={} if draft.metadata is None else validation.metadata(draft.metadata, restored=restored),
        captured_at=None if draft.captured_at is None else validation.timestamp(draft.captured_at, "capturedAt"),
        version=draft.version,
    )


async def add_source(
    database: Database, scope: Scope, draft: SourceDraft, *, trigger: str | None = None
) -> SavedSource:
    """Store a source. A different content with the same kind and ref is the next version, which supersedes the last.

    With a `trigger`, a compile of a new source is enqueued, unless the tenant's settings leave that to admins. Raises
    SourceForgotten.
    """
    checked, original = checked_source(draft), await checked_original(draft)
    async with writing(database, scope) as writer:
        name = {"kind": checked.kind, "ref": checked.ref}
        current = await writer.one(SOURCES["find_current"], **name, checksum=checked.checksum)
        if current and current["is_forgotten"]:
            raise SourceForgotten()
        known = [current] if current else []
        if current and checked.version:
            known += await writer.all(SOURCES["find_version"], **name, version=checked.version)
        same = (row for row in known if row["checksum"] == checked.checksum)
        if found := next((row for row in same if original is None or row["original_hash"] == original.hash), None):
            return SavedSource(found["id"], found["version"], created=False)
        saved = SavedSource(new_id(), current["version"] + 1 if current else 1, created=True)
        values = source_values(writer, checked, saved, current["id"] if current else None)
        if current and not draft.restored:
            values["metadata"] = with_level(checked.metadata, current["sensitivity"])
        await keep_rows(writer, [values])
        if original is not None:
            await keep_original(database, writer, saved.source_id, original)
        if trigger and await is_compiling(writer, scope.tenant_id):
            await enqueue(writer, scope.tenant_id, scope.owner_id, trigger)
        await record(writer, "source.added", sourceId=saved.source_id, version=saved.version)
        return saved


async def checked_original(draft: SourceDraft) -> CheckedOriginal | None:
    """Return the validated original of a draft with its flags: sentences of the content that address agents."""
    file = await checked_file(draft)
    return file and file._replace(flags=await offload(len(draft.content), flags, draft.content))


async def checked_file(draft: SourceDraft) -> CheckedOriginal | None:
    """Return the validated original of a draft, without flags. Raises BadInput."""
    original = draft.original
    if original is None:
        return None
    return CheckedOriginal(
        original.data,
        await hash_of(original.data, restored=draft.restored),
        validation.one_of(original.media_type, MEDIA_TYPES, "mediaType"),
        validation.line(original.address, "address", ADDRESS.limit(restored=draft.restored)),
    )


def source_values(
    writer: Writer, checked: CheckedSource, saved: SavedSource, supersedes_id: UUID | None
) -> dict[str, Any]:
    """Return the columns of a new source."""
    return asdict(checked) | {
        "id": saved.source_id,
        "version": saved.version,
        "supersedes_id": supersedes_id,
        "captured_at": checked.captured_at or writer.now,
    }


def with_level(metadata: dict[str, Any], level: Any) -> dict[str, Any]:
    """Return the metadata of a new version, with the sensitivity of the last one unless it sets one itself."""
    return metadata if level is None or FIELD in metadata else {**metadata, FIELD: level}


async def keep_rows(writer: Writer, rows: Sequence[dict[str, Any]]) -> None:
    """Insert new sources, and the passages by which search finds them."""
    await writer.each(SOURCES["add"], [{**writer.known, **row} for row in rows])
    superseded = {row["supersedes_id"] for row in rows if row["supersedes_id"]}
    indexed = [
        IndexedSource(
            row["id"], row["kind"], row["content"], row["captured_at"], row["metadata"], row["id"] not in superseded
        )
        for row in rows
    ]
    await write_passages(writer, indexed, sorted(superseded - {row["id"] for row in rows}))


@proposable
async def cite_source(
    database: Database,
    scope: Scope,
    *,
    page_id: UUID,
    section_slug: str,
    source_id: UUID,
    line_start: int | None = None,
    line_end: int | None = None,
    summary: str | None = None,
    restored: bool = False,
) -> Citation:
    """Cite a source in a section, as a whole or a range of its lines (counted from 1, both ends included)."""
    section_slug = validation.text(section_slug, "sectionSlug", SLUG.maximum)
    summary = validation.optional(summary, "summary", CITATION_SUMMARY.limit(restored=restored))
    async with writing_page(database, scope, page_id) as (writer, page):
        source = await find_source(writer, source_id)
        section_id = await find_section(writer, page.id, section_slug)
        start, end = check_lines(source["content"], line_start, line_end)
        changed = await cite(writer, page.id, section_id, source, start, end, summary)
        if changed:
            await ground(writer, [page.id], section_id=section_id)
            await record(writer, "source.cited", page.id, sourceId=source_id, sectionSlug=section_slug)
        return Citation(page.id, section_id, source_id, changed)


async def cite(
    writer: Writer,
    page_id: UUID,
    section_id: UUID,
    source: Any,
    line_start: int | None,
    line_end: int | None,
    summary: str | None = None,
) -> bool:
    """Write a citation. Return whether it is new or its lines or summary changed. The caller then calls `ground`."""
    changed = await writer.run(
        SOURCES["cite"],
        id=new_id(),
        page_id=page_id,
        section_id=section_id,
        source_id=source["id"],
        line_start=line_start,
        line_end=line_end,
        summary=summary,
    )
    if changed:
        await writer.run(SOURCES["advance_section"], section_id=section_id, captured_at=source["captured_at"])
        writer.touched.add(page_id)
    return bool(changed)


async def locate_source(database: Database, scope: Scope, name: str) -> UUID:
    """Return the id of the newest version of the source `KIND/REF`, or the name itself if it is an id.

    Raises NotFound, but does not check an id.
    """
    kind, _, ref = name.partition("/")
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        row = await connection.one(
            SOURCES["find_current"],
            tenant_id=scope.tenant_id,
            owner_id=scope.owner_id,
            checksum=b"",
            kind=kind,
            ref=ref,
        )
    if row:
        source_id: UUID = row["id"]
        return source_id
    try:
        return UUID(name)
    except ValueError:
        raise NotFound(f"{NO_SOURCE} Name it as KIND/REF, or by its id.") from None


async def find_source(writer: Writer, source_id: UUID) -> Any:
    """Return the row of a source of this wiki. Raises NotFound."""
    source = await writer.one(SOURCES["find_source"], source_id=source_id)
    if source is None:
        raise NotFound(NO_SOURCE)
    return source


async def find_section(writer: Writer, page_id: UUID, slug: str) -> UUID:
    for row in await writer.all(SECTIONS["find_sections"], page_id=page_id):
        if row["section_slug"] == slug:
            section_id: UUID = row["id"]
            return section_id
    raise NotFound(f'The page has no section "{slug}".')


def check_lines(content: str, start: int | None, end: int | None) -> tuple[int | None, int | None]:
    """Return a range of lines within the content. Without an end it is one line. Raises BadInput."""
    if start is None and end is None:
        return None, None
    if start is None:
        raise BadInput("lineEnd needs lineStart.", "lineStart")
    end = start if end is None else end
    last = content.rstrip("\n").count("\n") + 1
    if not 1 <= start <= last:
        raise BadInput(f"The source has the lines 1 to {last}.", "lineStart")
    if not start <= end <= last:
        raise BadInput(f"The range must end between line {start} and line {last}.", "lineEnd")
    return start, end


FORGETTING = statements("sources/forgetting")
TRIGGER = "forget"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of forgetting a source. `versions` is how many versions this call erased.

    The job `job_id` removes what was written from the source; it is None if nothing is left to remove.
    """

    source_id: UUID
    versions: int
    job_id: UUID | None


async def forget_source(database: Database, scope: Scope, source_id: UUID, reason: str | None = None) -> Forgotten:
    """Erase the content of all versions of a source. Needs MANAGE.

    The rows keep the kind, ref and checksum, the reason, and when and by whom they were erased.
    """
    reason = None if reason is None else validation.line(reason, "reason", FORGET_REASON.maximum)
    done, wiki, files = await forget_versions(database, scope, source_id, reason)
    await drop_files(database, wiki, files)
    return done


async def forget_versions(
    database: Database, scope: Scope, source_id: UUID, reason: str | None
) -> tuple[Forgotten, Scope, set[bytes]]:
    """Erase all versions of a source. Return the result, the scope of its wiki, and the hashes of unused blobs."""
    files = set[bytes]()
    async with writing_row(database, scope, FORGETTING["find_owner"], source_id, NO_SOURCE, Action.MANAGE) as writer:
        rows = await writer.all(FORGETTING["find_versions"], source_id=source_id)
        ids = [row["id"] for row in rows if row["forgotten_at"] is None]
        if ids:
            actor = writer.scope.actor
            await writer.run(FORGETTING["keep_said"], ids=ids)
            await writer.run(FORGETTING["erase"], ids=ids, by=f"{actor.kind.value}:{actor.id}", reason=reason)
            files = await drop_originals(writer, ids)
            await drop_passages(writer, ids)
            await count_passage_words(writer)
            await record(writer, "source.forgotten", sourceId=source_id, versions=len(ids))
        if not await writer.value(FORGETTING["is_forgetting"]):
            return Forgotten(source_id, 0, None), writer.scope, files
        wiki = writer.scope
        job_id = await enqueue(writer, wiki.tenant_id, wiki.owner_id, TRIGGER, subject=TRIGGER)
        return Forgotten(source_id, len(ids), job_id), wiki, files


async def find_pages_repeating(database: Database, scope: Scope, job_id: UUID) -> list[str]:
    """Return the pages, as `entity/momofuku`, in which a forget job found the forgotten text as written by people."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.MANAGE)
        rows = await Writer(connection, scope).all(FORGETTING["find_pages_repeating"], job_id=job_id)
    return [f"{row['type']}/{row['slug']}" for row in rows]
