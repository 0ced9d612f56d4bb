"""Store sources in batches, and enqueue a compile of them in the same transaction."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from content.sensitivity import FIELD
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements

from .. import validation
from ..errors import BadInput, CairnError
from ..jobs.queue import enqueue
from ..permissions import Action, authorise
from ..tenants.tenants import is_compiling
from ..transactions.transaction import read_connection, writing
from ..transactions.writer import Writer, record
from .blobs import CheckedOriginal
from .sources import (
    CheckedSource,
    SavedSource,
    SourceDraft,
    SourceForgotten,
    checked_file,
    checked_source,
    keep_rows,
    source_values,
    with_level,
)

SOURCES = statements("sources/sources")
BATCH_MAX = 100
TRIGGER = "retain"


@dataclass(frozen=True, slots=True)
class Retained:
    """The outcome for the source at a position of the batch, counted from 0: the stored source, or the error."""

    position: int
    saved: SavedSource | None = None
    error: CairnError | None = None


@dataclass(frozen=True, slots=True)
class Retention:
    """The outcome of a batch. `job_id` is the compile that will read the new sources.

    It is None if no source is new, or if the tenant's settings leave it to admins to request jobs.
    """

    items: list[Retained]
    job_id: UUID | None = None


async def retain_sources(
    database: Database, scope: Scope, drafts: Sequence[SourceDraft], *, trigger: str = TRIGGER
) -> Retention:
    """Store up to BATCH_MAX sources. The error of one source does not prevent the others from being stored."""
    checked = [
        read_draft(position, draft)
        for position, draft in enumerate(validation.check_count(drafts, BATCH_MAX, "sources"))
    ]
    valid = {position: source for position, source in enumerate(checked) if isinstance(source, CheckedSource)}
    if not valid:
        return Retention([outcome for outcome in checked if isinstance(outcome, Retained)])
    async with writing(database, scope) as writer:
        saved = await store_versions(writer, valid)
        job_id = None
        if any(isinstance(result, SavedSource) and result.created for result in saved.values()) and await is_compiling(
            writer, scope.tenant_id
        ):
            job_id = await enqueue(writer, scope.tenant_id, scope.owner_id, trigger)
    items = [
        source if isinstance(source, Retained) else retained(position, saved[position])
        for position, source in enumerate(checked)
    ]
    return Retention(items, job_id)


async def retain_source(database: Database, scope: Scope, draft: SourceDraft) -> SavedSource:
    """Store one source as `retain_sources` does. Raises the error of the source."""
    (item,) = (await retain_sources(database, scope, [draft])).items
    if item.saved is None:
        raise item.error or AssertionError("neither kept nor refused")
    return item.saved


def retained(position: int, saved: SavedSource | CairnError) -> Retained:
    return Retained(position, error=saved) if isinstance(saved, CairnError) else Retained(position, saved)


def read_draft(position: int, draft: SourceDraft) -> CheckedSource | Retained:
    try:
        return checked_source(draft)
    except CairnError as error:
        return Retained(position, error=error)


async def store_versions(writer: Writer, drafts: dict[int, CheckedSource]) -> dict[int, SavedSource | CairnError]:
    """Store each source as a new version, unless its newest version has the same content. Return results by position.

    Content that was forgotten is not stored again. Any number of sources takes a fixed number of statements.
    """
    rows = await writer.all(
        SOURCES["find_currents"],
        kinds=[draft.kind for draft in drafts.values()],
        refs=[draft.ref for draft in drafts.values()],
    )
    current = {
        (row["kind"], row["ref"]): (row["id"], row["version"], row["checksum"], row["sensitivity"]) for row in rows
    }
    gone = {(row["kind"], row["ref"], checksum) for row in rows for checksum in row["forgotten"]}
    saved: dict[int, SavedSource | CairnError] = {}
    new = []
    for position, draft in drafts.items():
        if (draft.kind, draft.ref, draft.checksum) in gone:
            saved[position] = SourceForgotten()
            continue
        id, version, checksum, level = current.get((draft.kind, draft.ref), (None, 0, b"", None))
        if checksum == draft.checksum:
            saved[position] = SavedSource(id, version, created=False)
            continue
        saved[position] = created = SavedSource(new_id(), version + 1, created=True)
        metadata = with_level(draft.metadata, level)
        new.append(source_values(writer, draft, created, id) | {"metadata": metadata})
        current[draft.kind, draft.ref] = (created.source_id, version + 1, draft.checksum, metadata.get(FIELD))
    if new:
        await keep_rows(writer, new)
        await record(writer, "source.retained", sourceIds=[str(row["id"]) for row in new])
    return saved


async def find_stored(database: Database, scope: Scope, drafts: Mapping[int, SourceDraft]) -> set[int]:
    """Return the positions of the drafts that `add_source` would find stored already. Runs one statement.

    A draft after a new draft of the same kind and ref is not included, because storing that draft changes the newest
    version.
    """
    checked: dict[int, tuple[CheckedSource, CheckedOriginal | None]] = {}
    for position, draft in drafts.items():
        with suppress(BadInput):
            checked[position] = checked_source(draft), await checked_file(draft)
    if not checked:
        return set()
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.WRITE)
        rows = await connection.all(
            SOURCES["find_stored"],
            tenant_id=scope.tenant_id,
            owner_id=scope.owner_id,
            positions=list(checked),
            kinds=[source.kind for source, _ in checked.values()],
            refs=[source.ref for source, _ in checked.values()],
            versions=[source.version for source, _ in checked.values()],
            checksums=[source.checksum for source, _ in checked.values()],
            hashes=[file and file.hash for _, file in checked.values()],
        )
    found = {row["position"] for row in rows}
    stored, new = set[int](), set[tuple[str, str]]()
    for position, (source, _) in checked.items():
        if position in found and (source.kind, source.ref) not in new:
            stored.add(position)
        else:
            new.add((source.kind, source.ref))
    return stored
