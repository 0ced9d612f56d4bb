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
from db.scope import Scope
from db.sql import statements
from db.table_statistics import analyze_tables
from lib.threads import offload, run_one_ahead

from ..auth.owners import set_language, set_owner_settings
from ..auth.wiki_settings import WikiSettings
from ..errors import BadInput, Conflict, LimitExceeded, NotFound
from ..pages.upsert import Prepared, count_new_words, prepare_draft, upsert_pages
from ..permissions import Withheld
from ..sources.blobs import OriginalDraft
from ..sources.retain import find_stored
from ..sources.sources import SourceDraft, add_source
from ..transactions.transaction import check_may_write
from .attachments import draft as attachment_draft
from .attachments import keep, keep_files
from .citations import find_sources
from .disk.paths import ABOUT
from .disk.staging import NoteList, OriginalFile, Spool
from .disk.temp_database import TempDatabase
from .disk.zips import unpack_zip
from .formats import SNIFFED_NOTES, Format, FormatReader, Survey
from .histories import Histories
from .mentions import LabelledMention, Promotions, count_sightings
from .names import Vault
from .notes import FolderStack, ImportProblem, NoteFile, Piece, WikiRecord, pieces, read_all, read_wiki_record
from .originals import draft, keep_originals, records, with_exported_facts
from .places import NoteFound, NoteSaved, PlacedNote, Places
from .relations import NoteWithPage, RelationResult, RelationWriter
from .results import ImportResult, Problems, Progress, ignore_progress, problem, unknown_type, without_text

IMPORTS = statements("import_export/imports")
ARCHIVE = ".zip"
LONGEST_CHAIN = 10  # stubs that redirect to stubs
NOTES_PER_BATCH = 500
PIECES_PER_BATCH = 100
BYTES_PER_BATCH = 200_000
TYPES_LISTED_MAX = 1_000
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
    max_unpacked: int | None = None,
    format: Format = Format.AUTO,
) -> ImportResult:
    """Import a folder, a `.zip` of a folder, or a `.jsonl` file into the scope's wiki.

    `max_unpacked` bounds the bytes that a zip may unpack to; None stands for the general limit. `format` is the tool
    that made the folder; AUTO finds it out.
    """
    with ExitStack() as stack:
        problems, survey = Problems(), Survey()
        if path.suffix.lower() == ARCHIVE and await asyncio.to_thread(path.is_file):
            path = await asyncio.to_thread(stack.enter_context, unpack_zip(path, problems, max_unpacked, survey))
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
        self.sources_added = self.created = self.touched = self.saved_count = self.broken = self.total = (
            self.attachments
        ) = 0

    async def run(self, path: Path) -> ImportResult:
        await self.load_known_pages()
        wiki_record = await asyncio.to_thread(read_wiki_record, path)
        if wiki_record:
            await self.apply_wiki_record(ABOUT, wiki_record)
        await asyncio.to_thread(self.list.fill, pieces(path, FolderStack(self.temp), self.survey), self.problems)
        await asyncio.to_thread(self.recognise, path, wiki_record is not None)
        await self.read_notes()
        await self.place_notes()
        await self.write_pages()
        failed = self.problems.count
        relation_writer = RelationWriter(self.database, self.scope, self.vault)
        await self.write_relations(relation_writer)
        await self.redirect(relation_writer)
        await self.promotions.write(self.database, self.scope)
        await self.histories.write(self.database, self.scope, self.problems)
        self.attachments += await keep_files(self.database, self.scope, self.survey, self.warnings)
        return await self.result(failed)

    def recognise(self, path: Path, is_export: bool) -> None:
        """Find out which tool made the folder, and drop the files that the tool keeps for itself."""
        if is_export:
            self.reader = replace(self.reader, format=Format.CAIRN)
            for note_path, line in records(path, self.problems):
                self.vault.store_record(note_path, line)
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

    async def load_known_pages(self) -> None:
        """Load which files are pages of the wiki already.

        Raises Forbidden, before any note is read, if the caller may not write.
        """
        await check_may_write(self.database, self.scope)
        after: tuple[str, str] = ("", "")
        while True:
            async with self.database.connection() as connection:
                rows = await connection.all(
                    IMPORTS["find_imported"],
                    **self.scope.wiki_values,
                    after_type=after[0],
                    after_slug=after[1],
                    size=NAMES_PER_BATCH,
                )
            self.places.add_known_pages(rows)
            if len(rows) < NAMES_PER_BATCH:
                return
            after = rows[-1]["type"], rows[-1]["slug"]

    async def read_notes(self) -> None:
        """Read all notes and records. Sources are stored at once, so that pages can cite them."""
        done, total = 0, self.list.total()
        for batch in self.list.batches(PIECES_PER_BATCH, BYTES_PER_BATCH):
            contents = await asyncio.to_thread(read_all, batch, self.reader)
            mentions: list[LabelledMention] = []
            drafts = {n: source_draft(record) for n, record in enumerate(contents) if isinstance(record, SourceRecord)}
            stored = await find_stored(self.database, self.scope, drafts)
            for n, (piece, record) in enumerate(zip(batch, contents, strict=True)):
                done += 1
                self.report("Reading", done, total, piece.label)
                if isinstance(record, NoteFile | Note):
                    note = record.note if isinstance(record, NoteFile) else record
                    await offload(length(note), self.add_note_read, done, piece, record)
                elif isinstance(record, SourceRecord):
                    if n not in stored:
                        await self.add_source(piece, drafts[n])
                elif isinstance(record, AttachmentRecord):
                    await self.add_attachment(record)
                elif isinstance(record, MentionRecord):
                    mentions.append((piece.label, record))
                    self.promotions.add(record)
                elif isinstance(record, RevisionRecord):
                    self.histories.add(piece, record)
                elif isinstance(record, WikiRecord):
                    await self.apply_wiki_record(piece.label, record)
                else:
                    self.problems.append(record)
            if mentions:
                self.problems.extend(await count_sightings(self.database, self.scope, mentions))

    async def apply_wiki_record(self, label: str, wiki_record: WikiRecord) -> None:
        """Set the language and settings of the wiki to those of the export, unless the wiki has pages already."""
        async with self.database.connection() as connection:
            row = await connection.one(IMPORTS["find_settings"], **self.scope.wiki_values)
        if row is None or row["has_pages"]:
            return
        own = self.database, self.scope.tenant_id, self.scope.owner_id
        try:
            if wiki_record.language not in (None, row["language"]):
                await set_language(*own, wiki_record.language)
            if wiki_record.settings != WikiSettings():
                await set_owner_settings(*own, wiki_record.settings)
        except BadInput as error:
            self.problems.append(problem(label, error))

    def add_note_read(self, id: int, piece: Piece, read: NoteFile | Note) -> None:
        """Add a note that was read, with the facts that an export has recorded beside its file."""
        try:
            note, original_file = with_exported_facts(read, self.vault.record(piece.label))
        except BadNote as error:
            self.problems.append(ImportProblem(piece.label, BadInput.code, str(error)))
        else:
            self.add(id, piece, note, original_file)

    def add(self, id: int, piece: Piece, note: Note, original_file: OriginalFile | None) -> None:
        found = NoteFound(id, piece.label, note, not piece.is_line, self.reader.type_of_folder(piece.label))
        self.places.add(found, self.spool.keep(note, original_file))
        unknown = note.metadata.get("category") if note.type is None and not note.redirect_to else None
        if isinstance(unknown, str) and (unknown in self.unknown_types or len(self.unknown_types) < TYPES_LISTED_MAX):
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
        file = await offload(len(record.data), attachment_draft, record.path, record.data)
        if isinstance(file, ImportProblem):
            self.problems.append(file)
        else:
            self.attachments += await keep(self.database, self.scope, [file], self.warnings)

    async def place_notes(self) -> None:
        batches = self.places.place()
        while placed := await asyncio.to_thread(next, batches, None):
            self.problems.extend(result for result in placed if isinstance(result, ImportProblem))
            self.vault.place(result for result in placed if not isinstance(result, ImportProblem))

    async def write_pages(self) -> None:
        """Write all pages, a batch per transaction; the next batch is prepared meanwhile."""
        self.total, due, done = self.places.total(), PAGES_PER_BATCH, 0
        async for ready in run_one_ahead(
            self.prepare_drafts(n, batch) for n, batch in numbered_batches(self.places.placed_notes)
        ):
            done += await self.save_pages(ready)
            if done >= due:
                await analyze_tables(self.database, GROWN, self.scope.owner_id, due)
                due *= MEASURED_AGAIN
        if self.created:
            await count_new_words(self.database, self.scope)

    async def prepare_drafts(self, number: int, batch: Sequence[PlacedNote]) -> list[tuple[PlacedNote, Prepared]]:
        ready = []
        notes = [(placed, self.spool.take(placed.place)) for placed in batch]
        sources = await find_sources(self.database, self.scope, [note for _, note in notes])
        for place, (placed, note) in enumerate(notes, number):
            self.report("Writing", place + 1, self.total, placed.label)
            original_file = self.spool.take_original(placed.place) if self.vault.is_export else None
            wanted = await offload(length(note), draft, placed, note, original_file, self.vault, sources)
            try:
                ready.append((placed, await prepare_draft(wanted)))
            except BadInput as error:
                self.problems.append(problem(placed.label, error))
        return ready

    async def save_pages(self, ready: Sequence[tuple[PlacedNote, Prepared]]) -> int:
        """Save the pages in one transaction, or each by itself if one is refused. Return how many were saved."""
        try:
            saved = await upsert_pages(self.database, self.scope, [page for _, page in ready])
        except (BadInput, Conflict, NotFound, Withheld) as error:
            if len(ready) > 1:
                return sum([await self.save_pages([page]) for page in ready])
            self.problems.append(problem(ready[0][0].label, error))
            return 0
        self.places.store_saved(
            NoteSaved(placed, page.page_id, page.created, page.changed)
            for (placed, _), page in zip(ready, saved, strict=True)
        )
        self.saved_count += len(saved)
        self.created += sum(page.created for page in saved)
        return len(saved)

    async def write_relations(self, relation_writer: RelationWriter) -> None:
        done = 0
        for batch in self.places.saved_notes(NOTES_PER_BATCH):
            written = [
                NoteWithPage(saved.placed, self.spool.take(saved.placed.place), saved.page_id) for saved in batch
            ]
            await relation_writer.prepare(written)
            changed = {saved.page_id for saved in batch if saved.changed}
            for note in written:
                result = await relation_writer.relate(note)
                changed |= {note.page_id} if result.changed else set()
                self.add_result(result)
                done += 1
                self.report("Linking", done, self.saved_count, note.placed.label)
            changed |= await relation_writer.store_related(written)
            await relation_writer.store_claims(written)
            await relation_writer.store_merges(written)
            await keep_originals(self.database, self.scope, self.vault, self.spool, written)
            self.touched += sum(saved.page_id in changed for saved in batch)
            await relation_writer.store_dates(written)

    async def redirect(self, relation_writer: RelationWriter) -> None:
        """Restore the former slugs that stubs redirect from. A stub may redirect to another stub."""
        left = [
            stub
            for batch in self.places.stubs(NOTES_PER_BATCH)
            for stub in batch
            if not await self.resolve_redirect(relation_writer, *stub)
        ]
        for _ in range(LONGEST_CHAIN):
            before, left = len(left), [stub for stub in left if not await self.resolve_redirect(relation_writer, *stub)]
            if len(left) == before:
                break
        for label, place in left:
            self.add_result(await relation_writer.remember_redirect(label, self.spool.take(place)))

    async def resolve_redirect(self, relation_writer: RelationWriter, label: str, place: int) -> bool:
        """Add the slug of a stub to the page that it redirects to; return whether there is such a page."""
        result = await relation_writer.redirect(label, self.spool.take(place))
        if result is None:
            return False
        self.add_result(result)
        return True

    def add_result(self, result: RelationResult) -> None:
        self.broken += len(result.broken)
        self.warnings.extend(result.broken)
        self.problems.extend(result.problems)

    async def result(self, failed: int) -> ImportResult:
        links = broken = 0
        for page_ids in self.places.page_ids(ROWS_PER_BATCH):
            async with self.database.connection() as connection:
                row = await connection.one(IMPORTS["count_links"], **self.scope.wiki_values, page_ids=page_ids)
            assert row is not None
            links, broken = links + row["links"], broken + row["broken"]
        for type, (count, first) in self.unknown_types.items():
            self.warnings.append(unknown_type(type, count, first))
        return ImportResult(
            created=self.created,
            changed=self.touched - self.created,
            unchanged=self.saved_count - self.touched,
            failed=failed,
            links=links,
            broken_links=broken + self.broken,
            sources=self.sources_added,
            errors=tuple(self.problems.listed),
            warnings=tuple(self.warnings.listed),
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


def numbered_batches(batches: Callable[[int], Iterator[list[PlacedNote]]]) -> Iterator[tuple[int, list[PlacedNote]]]:
    """Yield batches of notes, each with the number of notes before it."""
    before = 0
    for batch in batches(PAGES_PER_BATCH):
        yield before, batch
        before += len(batch)
