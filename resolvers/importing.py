"""A folder of markdown notes, a zip of one, or a file with a page on each line, becomes pages. The same again changes
nothing, so one that was interrupted is begun again and goes on where it was.

Two passes over the notes, so that their order does not matter: first the pages with their texts, then what ties them.
Some pages are a transaction; one that is refused is told with its reason and stops no other. Between the passes the
texts wait on the disk.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, TypeVar

from content.names import normalise
from content.notes import Note
from content.source_records import SourceRecord
from db.database import Database
from db.measuring import measure
from db.scope import Scope
from db.sql import statements

from .drafts import PageDraft
from .errors import BadInput, Conflict, LimitExceeded
from .note_archives import unpacked
from .note_files import Piece, Problem, is_export, pieces, read_all
from .note_names import Vault, names
from .note_places import Found, Known, Placed, place
from .note_sources import Sources
from .note_spool import Spool, outline_of
from .note_ties import REASON, Tied, Ties, Written, problem, wiki
from .records import Saved
from .sources import SourceDraft, add_source
from .upserting import Prepared, count_new_words, prepared, upsert_pages
from .writing import writing

__all__ = ["ImportResult", "Problem", "Progress", "import_path"]

T = TypeVar("T")
IMPORTS = statements("imports")
ORIGIN = "imported_from"
EDIT_SUMMARY = "Imported"
ARCHIVE = ".zip"
TIED_AT_ONCE = 500
READ_AT_ONCE = 10
WRITTEN_AT_ONCE = 50
GROWN = ("aliases", "link_targets", "links", "old_slugs", "pages", "sections")
MEASURED_AGAIN = 5  # times as many pages


class Progress(Protocol):
    """Hears how far a step is; `current` is the note that is next."""

    def __call__(self, step: str, done: int, total: int, current: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ImportResult:
    """`created`, `changed`, `unchanged` and `failed` count notes, and every note is in one of them. `sources` counts
    those that are new, or say something new.

    `links` are the references that the imported pages have now; `broken_links` the names in texts and in `parent`,
    `related` and `links` that no page answers to. `errors` may also tell of a page that was imported without a tie.
    """

    created: int
    changed: int
    unchanged: int
    failed: int
    links: int
    broken_links: int
    sources: int
    errors: tuple[Problem, ...]


def silent(step: str, done: int, total: int, current: str) -> None:
    """Progress that nobody hears."""


async def import_path(
    database: Database, scope: Scope, path: Path, *, report: Progress = silent, unpacked_most: int | None = None
) -> ImportResult:
    """Import the folder, the `.zip` of one, or the `.jsonl` file, into the scope's wiki.

    A zip may unpack to `unpacked_most` bytes, else to as many as any.
    """
    with ExitStack() as stack:
        problems: list[Problem] = []
        if path.suffix.lower() == ARCHIVE and await asyncio.to_thread(path.is_file):
            path, problems = await asyncio.to_thread(stack.enter_context, unpacked(path, unpacked_most))
        spool = stack.enter_context(Spool())
        return await Import(database, scope, report, spool, problems).run(path)


class Import:
    """One run, and what has come of it so far."""

    def __init__(
        self, database: Database, scope: Scope, report: Progress, spool: Spool, problems: list[Problem]
    ) -> None:
        self.database, self.scope, self.report, self.spool, self.problems = database, scope, report, spool, problems
        self.saved: list[Saved] = []
        self.refs: set[str] = set()
        self.sources_added = self.total = 0
        self.is_export = False

    async def run(self, path: Path) -> ImportResult:
        known = await self.known()
        self.is_export = is_export(path)
        found = await self.read(self.sound(await asyncio.to_thread(pieces, path)))
        notes = self.sound(place([one for one in found if not one.note.redirect_to], known))
        self.total = len(notes)
        vault, sources = Vault([] if self.is_export else notes), await self.sources()
        written = await self.write(notes, vault, sources)
        failed = len(self.problems)
        ties = Ties(self.database, self.scope, vault, sources)
        ties.pages = {note.placed.label: note.page_id for note in written}
        tied = await self.tie(written, ties)
        tied += await self.redirect([one for one in found if one.note.redirect_to], ties)
        return await self.result(failed, tied)

    def sound(self, found: Iterable[T | Problem]) -> list[T]:
        """All but the problems, which are kept for the result."""
        sound = []
        for one in found:
            if isinstance(one, Problem):
                self.problems.append(one)
            else:
                sound.append(one)
        return sound

    async def known(self) -> Known:
        """Which file is which page already. Refuses who may not write here, before anything is read."""
        async with writing(self.database, self.scope) as writer:
            rows = await writer.all(IMPORTS["find_imported"])
        return {(row["type"], row["path"]): row["slug"] for row in rows}

    async def read(self, pieces: Sequence[Piece]) -> list[Found]:
        """The notes; the sources among them are kept at once, so that pages can cite them."""
        found, numbered = [], list(enumerate(pieces))
        for some in batches(numbered, READ_AT_ONCE):
            contents = await asyncio.to_thread(read_all, [piece for _, piece in some])
            for (done, piece), one in zip(some, contents, strict=True):
                self.report("Reading", done, len(pieces), piece.label)
                if isinstance(one, Note):
                    found.append(self.found(piece, one))
                elif isinstance(one, SourceRecord):
                    await self.add(piece, one)
                else:
                    self.problems.append(one)
        return found

    async def add(self, piece: Piece, record: SourceRecord) -> None:
        draft = SourceDraft(
            record.kind, record.ref, record.content, record.title, record.captured_at, record.metadata, record.version
        )
        try:
            self.sources_added += (await add_source(self.database, self.scope, draft)).created
        except (BadInput, LimitExceeded) as error:
            self.problems.append(problem(piece.label, error))

    def found(self, piece: Piece, note: Note) -> Found:
        path = None if piece.is_line else PurePosixPath(piece.label)
        self.refs.update(citation.ref for citation in note.sources)
        return Found(piece.label, outline_of(note), path, self.spool.keep(note))

    async def sources(self) -> Sources:
        async with self.database.connection() as connection:
            return Sources(await connection.all(IMPORTS["find_sources"], **wiki(self.scope), refs=sorted(self.refs)))

    async def write(self, notes: Sequence[Placed], vault: Vault, sources: Sources) -> list[Written]:
        """Some pages in one transaction, while the next ones are read."""
        written: list[Written] = []
        numbered = list(enumerate(notes))
        due = WRITTEN_AT_ONCE
        async for ready in one_ahead(self.prepare(some, vault, sources) for some in batches(numbered, WRITTEN_AT_ONCE)):
            written += await self.upsert(ready)
            if len(written) >= due:
                await measure(self.database, GROWN, self.scope.owner_id, due)
                due *= MEASURED_AGAIN
        if any(saved.created for saved in self.saved):
            await count_new_words(self.database, self.scope)
        return written

    async def prepare(
        self, notes: Sequence[tuple[int, Placed]], vault: Vault, sources: Sources
    ) -> list[tuple[Placed, Prepared]]:
        ready = []
        for number, outline in notes:
            self.report("Writing", number, self.total, outline.label)
            wanted = draft(self.whole(outline), vault, sources, is_export=self.is_export)
            try:
                ready.append((outline, await prepared(wanted)))
            except BadInput as error:
                self.problems.append(problem(outline.label, error))
        return ready

    async def upsert(self, ready: Sequence[tuple[Placed, Prepared]]) -> list[Written]:
        """All at once; where one is refused, each for itself."""
        try:
            saved = await upsert_pages(self.database, self.scope, [one for _, one in ready])
        except (BadInput, Conflict) as error:
            if len(ready) > 1:
                return [written for one in ready for written in await self.upsert([one])]
            self.problems.append(problem(ready[0][0].label, error))
            return []
        self.saved += saved
        return [Written(note, one.page_id) for (note, _), one in zip(ready, saved, strict=True)]

    def whole(self, note: Placed) -> Placed:
        """With what it says."""
        return replace(note, note=self.spool.take(note.place))

    async def tie(self, notes: Sequence[Written], ties: Ties) -> list[Tied]:
        tied: list[Tied] = []
        for some in batches(notes, TIED_AT_ONCE):
            await ties.prepare(some)
            for note in some:
                self.report("Linking", len(tied), len(notes), note.placed.label)
                tied.append(await ties.tie(replace(note, placed=self.whole(note.placed))))
            await ties.keep_dates(some)
        return tied

    async def redirect(self, stubs: Sequence[Found], ties: Ties) -> list[Tied]:
        """Names that pages once had: a file each, that says where it leads."""
        return [await ties.redirect(stub) for stub in stubs]

    async def result(self, failed: int, tied: Sequence[Tied]) -> ImportResult:
        page_ids = [saved.page_id for saved in self.saved]
        async with self.database.connection() as connection:
            links = await connection.one(IMPORTS["count_links"], **wiki(self.scope), page_ids=page_ids)
        assert links is not None
        created = sum(saved.created for saved in self.saved)
        touched = sum(saved.changed or tie.changed for saved, tie in zip(self.saved, tied, strict=False))
        return ImportResult(
            created=created,
            changed=touched - created,
            unchanged=len(self.saved) - touched,
            failed=failed,
            links=links["links"],
            broken_links=links["broken"] + sum(tie.broken for tie in tied),
            sources=self.sources_added,
            errors=(*self.problems, *(problem for tie in tied for problem in tie.problems)),
        )


def draft(note: Placed, vault: Vault, sources: Sources, *, is_export: bool) -> PageDraft:
    """The page that a note asks for. What the note does not have stays as it is on the page.

    An export has told every name of its pages; of other files the name is one too.
    """
    origin = {ORIGIN: note.label} if note.path else {}
    uncited = sources.uncited(note.note)
    return PageDraft(
        type=note.type,
        title=note.note.title,
        slug=note.slug,
        summary=note.note.summary,
        body=vault.body(note),
        aliases=[name for name in (note.note.aliases if is_export else names(note)) if normalise(name)],
        tags=note.note.tags or None,
        metadata=note.note.metadata | origin | ({"sources": uncited} if uncited else {}),
        status="archived" if note.note.status == "archived" else None,
        edit_summary=EDIT_SUMMARY,
        alias_source=REASON,
        former_slugs=note.note.former_slugs,
        section_slugs=note.note.section_slugs,
    )


async def one_ahead(makes: Iterable[Coroutine[Any, Any, T]]) -> AsyncIterator[T]:
    """What each of them makes, the next one at work while the last is used."""
    upcoming: asyncio.Task[T] | None = None
    try:
        for make in makes:
            current, upcoming = upcoming, asyncio.create_task(make)
            if current:
                yield await current
        if upcoming:
            yield await upcoming
    finally:
        if upcoming:
            upcoming.cancel()


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
