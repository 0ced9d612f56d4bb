"""Import a folder of markdown notes, a zip of such a folder, or a `.jsonl` file with a page on each line.

Importing the same notes again changes nothing, so an interrupted import is simply started again. The import writes the
pages with their texts first, then the relations between them, and the histories of the pages last, so that the order of
the notes does not matter. It writes pages in batches, each in a transaction. A page that is refused is reported with
the reason, and the others are written. Between the passes the texts are in a temporary file.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from content.notes.notes import BadNote, Note
from content.notes.records import AttachmentRecord, MentionRecord, RevisionRecord, SourceRecord
from db.database import Database
from db.measuring import measure
from db.scope import Scope
from db.sql import statements
from lib.threads import one_ahead, read_in_thread

from ..auth.owners import WikiSettings, set_language, set_owner_settings
from ..errors import BadInput, Conflict, LimitExceeded
from ..pages.upsert import Prepared, count_new_words, prepare_draft, upsert_pages
from ..sources.blobs import OriginalDraft
from ..sources.retain import find_stored
from ..sources.sources import SourceDraft, add_source
from ..transactions.transaction import check_may_write
from .attachments import draft as attachment_draft
from .attachments import keep, keep_files
from .citations import find_sources, wiki
from .disk.paths import ABOUT
from .disk.staging import NoteList, OriginalFile, Spool
from .disk.temp_database import TempDatabase
from .disk.zips import unpack_zip
from .formats import SNIFFED_NOTES, Format, FormatReader, Survey
from .histories import Histories
from .mentions import Promotions, Told, count_sightings
from .names import Vault
from .notes import ImportProblem, NoteFile, Piece, Waiting, WikiRecord, pieces, read_all, read_wiki_record
from .originals import draft, keep_originals, records, with_exported_facts
from .pages import NoteFound, NoteSaved, Placed, Places
from .relations import Tied, Ties, Written
from .results import ImportResult, Problems, Progress, ignore_progress, problem, unknown_type, without_text

IMPORTS = statements("import_export/imports")
ARCHIVE = ".zip"
LONGEST_CHAIN = 10  # stubs that redirect to stubs
NOTES_PER_BATCH = 500
PIECES_PER_BATCH = 100
BYTES_PER_BATCH = 200_000
TYPES_TOLD = 1_000
NAMES_PER_BATCH = ROWS_PER_BATCH = 2_000
PAGES_PER_BATCH = 50
GROWN = ("aliases", "link_targets", "links", "old_slugs", "pages", "sections")  # tables whose statistics are renewed
MEASURED_AGAIN = 5  # factor by which the number of pages grows between two renewals


async def import_path(
    database: Database,
    scope: Scope,
    path: Path,
    *,
    report: Progress = ignore_progress,
    unpacked_most: int | None = None,
    format: Format = Format.AUTO,
) -> ImportResult:
    """Import a folder, a `.zip` of a folder, or a `.jsonl` file into the scope's wiki.

    `unpacked_most` bounds the bytes that a zip may unpack to; None stands for the general limit. `format` is the tool
    that made the folder; AUTO finds it out.
    """
    with ExitStack() as stack:
        problems, survey = Problems(), Survey()
        if path.suffix.lower() == ARCHIVE and await asyncio.to_thread(path.is_file):
            path = await asyncio.to_thread(stack.enter_context, unpack_zip(path, problems, unpacked_most, survey))
        spool, temp = stack.enter_context(Spool()), stack.enter_context(TempDatabase())
        return await Import(database, scope, report, spool, temp, problems, survey, format).run(path)


class Import:
    """One import and its results so far. Facts about notes are in the temporary database, their texts in the spool."""

    def __init__(
        self,
        database: Database,
        scope: Scope,
        report: Progress,
        spool: Spool,
        temp: TempDatabase,
        problems: Problems,
        survey: Survey,
        format: Format,
    ) -> None:
        self.database, self.scope, self.report, self.spool, self.problems = database, scope, report, spool, problems
        self.survey, self.reader = survey, FormatReader(format, survey)
        self.temp, self.list, self.places = temp, NoteList(temp), Places(temp)
        self.histories, self.promotions, self.warnings = Histories(temp), Promotions(temp), Problems()
        self.vault = Vault(temp)
        self.unknown_types: dict[str, tuple[int, str]] = {}
        self.sources_added = self.created = self.touched = self.kept = self.broken = self.total = self.attachments = 0

    async def run(self, path: Path) -> ImportResult:
        await self.know()
        said = await asyncio.to_thread(read_wiki_record, path)
        if said:
            await self.speak(ABOUT, said)
        await asyncio.to_thread(self.list.fill, pieces(path, Waiting(self.temp), self.survey), self.problems)
        await asyncio.to_thread(self.recognise, path, said is not None)
        await self.read()
        await self.place()
        await self.write()
        failed = self.problems.count
        ties = Ties(self.database, self.scope, self.vault)
        await self.tie(ties)
        await self.redirect(ties)
        await self.promotions.write(self.database, self.scope)
        await self.histories.write(self.database, self.scope, self.problems)
        self.attachments += await keep_files(self.database, self.scope, self.survey, self.warnings)
        return await self.result(failed)

    def recognise(self, path: Path, is_export: bool) -> None:
        """Find out which tool made the folder, and drop the files that the tool keeps for itself."""
        if is_export:
            self.reader = replace(self.reader, format=Format.CAIRN)
            for told, line in records(path, self.problems):
                self.vault.keep_record(told, line)
        elif path.is_file():
            self.reader = replace(self.reader, format=Format.LINES)
        elif self.reader.format is Format.AUTO:
            self.reader = replace(self.reader, format=self.survey.recognise(self.list.files(SNIFFED_NOTES)))
        if self.reader.format is Format.LOGSEQ and self.survey.graph is not None:
            own = f"{self.survey.graph}logseq/"
            self.survey.left["logseq/"] += self.list.drop(own)
            for name in [name for name in self.survey.attachments if name.startswith(own)]:
                del self.survey.attachments[name]
        self.vault.format = self.reader.format

    async def know(self) -> None:
        """Load which files are pages of the wiki already. Raises Forbidden, before any note is read, if the caller may
        not write."""
        await check_may_write(self.database, self.scope)
        after: tuple[str, str] = ("", "")
        while True:
            async with self.database.connection() as connection:
                rows = await connection.all(
                    IMPORTS["find_imported"],
                    **wiki(self.scope),
                    after_type=after[0],
                    after_slug=after[1],
                    size=NAMES_PER_BATCH,
                )
            self.places.know(rows)
            if len(rows) < NAMES_PER_BATCH:
                return
            after = rows[-1]["type"], rows[-1]["slug"]

    async def read(self) -> None:
        """Read all notes and records. Sources are stored at once, so that pages can cite them."""
        done, total = 0, self.list.total()
        for some in self.list.some(PIECES_PER_BATCH, BYTES_PER_BATCH):
            contents = await asyncio.to_thread(read_all, some, self.reader)
            mentions: list[Told] = []
            drafts = {n: source_draft(one) for n, one in enumerate(contents) if isinstance(one, SourceRecord)}
            stored = await find_stored(self.database, self.scope, drafts)
            for n, (piece, one) in enumerate(zip(some, contents, strict=True)):
                done += 1
                self.report("Reading", done, total, piece.label)
                if isinstance(one, NoteFile | Note):
                    note = one.note if isinstance(one, NoteFile) else one
                    await read_in_thread(length(note), self.add_read, done, piece, one)
                elif isinstance(one, SourceRecord):
                    if n not in stored:
                        await self.add_source(piece, drafts[n])
                elif isinstance(one, AttachmentRecord):
                    await self.add_attachment(one)
                elif isinstance(one, MentionRecord):
                    mentions.append((piece.label, one))
                    self.promotions.add(one)
                elif isinstance(one, RevisionRecord):
                    self.histories.add(piece, one)
                elif isinstance(one, WikiRecord):
                    await self.speak(piece.label, one)
                else:
                    self.problems.append(one)
            if mentions:
                self.problems.extend(await count_sightings(self.database, self.scope, mentions))

    async def speak(self, label: str, said: WikiRecord) -> None:
        """Set the language and settings of the wiki to those of the export, unless the wiki has pages already."""
        async with self.database.connection() as connection:
            row = await connection.one(IMPORTS["find_settings"], **wiki(self.scope))
        if row is None or row["has_pages"]:
            return
        own = self.database, self.scope.tenant_id, self.scope.owner_id
        try:
            if said.language not in (None, row["language"]):
                await set_language(*own, said.language)
            if said.settings != WikiSettings():
                await set_owner_settings(*own, said.settings)
        except BadInput as error:
            self.problems.append(problem(label, error))

    def add_read(self, id: int, piece: Piece, read: NoteFile | Note) -> None:
        """Add a note that was read, with the facts that an export has recorded beside its file."""
        try:
            note, given = with_exported_facts(read, self.vault.record(piece.label))
        except BadNote as error:
            self.problems.append(ImportProblem(piece.label, BadInput.code, str(error)))
        else:
            self.add(id, piece, note, given)

    def add(self, id: int, piece: Piece, note: Note, given: OriginalFile | None) -> None:
        found = NoteFound(id, piece.label, note, not piece.is_line, self.reader.type_of_folder(piece.label))
        self.places.add(found, self.spool.keep(note, given))
        unknown = note.metadata.get("category") if note.type is None and not note.redirect_to else None
        if isinstance(unknown, str) and (unknown in self.unknown_types or len(self.unknown_types) < TYPES_TOLD):
            count, first = self.unknown_types.get(unknown, (0, piece.label))
            self.unknown_types[unknown] = count + 1, first
        if not note.redirect_to:
            self.vault.add(found)
        elif note.body.strip():
            self.warnings.append(without_text(piece.label))

    async def add_source(self, piece: Piece, draft: SourceDraft) -> None:
        try:
            self.sources_added += (await add_source(self.database, self.scope, draft)).created
        except (BadInput, LimitExceeded) as error:
            self.problems.append(problem(piece.label, error))

    async def add_attachment(self, record: AttachmentRecord) -> None:
        file = await read_in_thread(len(record.data), attachment_draft, record.path, record.data)
        if isinstance(file, ImportProblem):
            self.problems.append(file)
        else:
            self.attachments += await keep(self.database, self.scope, [file], self.warnings)

    async def place(self) -> None:
        some = self.places.place()
        while placed := await asyncio.to_thread(next, some, None):
            self.problems.extend(one for one in placed if isinstance(one, ImportProblem))
            self.vault.place(one for one in placed if not isinstance(one, ImportProblem))

    async def write(self) -> None:
        """Write all pages, a batch per transaction; the next batch is prepared meanwhile."""
        self.total, due, done = self.places.total(), PAGES_PER_BATCH, 0
        async for ready in one_ahead(self.prepare(n, some) for n, some in number_batches(self.places.to_write)):
            done += await self.upsert(ready)
            if done >= due:
                await measure(self.database, GROWN, self.scope.owner_id, due)
                due *= MEASURED_AGAIN
        if self.created:
            await count_new_words(self.database, self.scope)

    async def prepare(self, number: int, some: Sequence[Placed]) -> list[tuple[Placed, Prepared]]:
        ready = []
        notes = [(placed, self.spool.take(placed.place)) for placed in some]
        sources = await find_sources(self.database, self.scope, [note for _, note in notes])
        for place, (placed, note) in enumerate(notes, number):
            self.report("Writing", place + 1, self.total, placed.label)
            given = self.spool.take_given(placed.place) if self.vault.is_export else None
            wanted = await read_in_thread(length(note), draft, placed, note, given, self.vault, sources)
            try:
                ready.append((placed, await prepare_draft(wanted)))
            except BadInput as error:
                self.problems.append(problem(placed.label, error))
        return ready

    async def upsert(self, ready: Sequence[tuple[Placed, Prepared]]) -> int:
        """Save the pages in one transaction, or each by itself if one is refused. Return how many were saved."""
        try:
            saved = await upsert_pages(self.database, self.scope, [one for _, one in ready])
        except (BadInput, Conflict) as error:
            if len(ready) > 1:
                return sum([await self.upsert([one]) for one in ready])
            self.problems.append(problem(ready[0][0].label, error))
            return 0
        self.places.keep(
            NoteSaved(placed, one.page_id, one.created, one.changed)
            for (placed, _), one in zip(ready, saved, strict=True)
        )
        self.kept += len(saved)
        self.created += sum(one.created for one in saved)
        return len(saved)

    async def tie(self, ties: Ties) -> None:
        done = 0
        for some in self.places.to_tie(NOTES_PER_BATCH):
            written = [Written(one.placed, self.spool.take(one.placed.place), one.page_id) for one in some]
            await ties.prepare(written)
            changed = {one.page_id for one in some if one.changed}
            for note in written:
                tied = await ties.tie(note)
                changed |= {note.page_id} if tied.changed else set()
                self.count(tied)
                done += 1
                self.report("Linking", done, self.kept, note.placed.label)
            changed |= await ties.relate(written)
            await ties.supersede(written)
            await ties.merge(written)
            await keep_originals(self.database, self.scope, self.vault, self.spool, written)
            self.touched += sum(one.page_id in changed for one in some)
            await ties.keep_dates(written)

    async def redirect(self, ties: Ties) -> None:
        """Restore the former slugs that stubs redirect from. A stub may redirect to another stub."""
        left = [
            stub
            for some in self.places.stubs(NOTES_PER_BATCH)
            for stub in some
            if not await self.resolve_redirect(ties, *stub)
        ]
        for _ in range(LONGEST_CHAIN):
            before, left = len(left), [stub for stub in left if not await self.resolve_redirect(ties, *stub)]
            if len(left) == before:
                break
        for label, place in left:
            self.count(await ties.remember_redirect(label, self.spool.take(place)))

    async def resolve_redirect(self, ties: Ties, label: str, place: int) -> bool:
        """Add the slug of a stub to the page that it redirects to; return whether there is such a page."""
        tied = await ties.redirect(label, self.spool.take(place))
        if tied is None:
            return False
        self.count(tied)
        return True

    def count(self, tied: Tied) -> None:
        self.broken += len(tied.broken)
        self.warnings.extend(tied.broken)
        self.problems.extend(tied.problems)

    async def result(self, failed: int) -> ImportResult:
        links = broken = 0
        for page_ids in self.places.page_ids(ROWS_PER_BATCH):
            async with self.database.connection() as connection:
                row = await connection.one(IMPORTS["count_links"], **wiki(self.scope), page_ids=page_ids)
            assert row is not None
            links, broken = links + row["links"], broken + row["broken"]
        for type, (count, first) in self.unknown_types.items():
            self.warnings.append(unknown_type(type, count, first))
        return ImportResult(
            created=self.created,
            changed=self.touched - self.created,
            unchanged=self.kept - self.touched,
            failed=failed,
            links=links,
            broken_links=broken + self.broken,
            sources=self.sources_added,
            errors=tuple(self.problems.told),
            warnings=tuple(self.warnings.told),
            format=self.reader.format,
            left_out=dict(sorted((+self.survey.left).items())),
            attachments=self.attachments,
        )


def source_draft(record: SourceRecord) -> SourceDraft:
    """Return the draft of the source in a record."""
    return SourceDraft(
        *(record.kind, record.ref, record.content, record.title, record.captured_at, record.metadata),
        version=record.version,
        original=record.original and OriginalDraft(*record.original),
        restored=True,
    )


def length(note: Note) -> int:
    """Return the characters of the text and names of a note, which decide whether it is read in a thread."""
    return len(note.body) + sum(map(len, note.aliases))


def number_batches(batches: Callable[[int], Iterator[list[Placed]]]) -> Iterator[tuple[int, list[Placed]]]:
    """Yield batches of notes, each with the number of notes before it."""
    before = 0
    for some in batches(PAGES_PER_BATCH):
        yield before, some
        before += len(some)
