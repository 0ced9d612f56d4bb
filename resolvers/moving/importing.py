"""A folder of markdown notes, a zip of one, or a file with a page on each line, becomes pages. The same again changes
nothing, so one that was interrupted is begun again and goes on where it was.

Two passes over the notes, so that their order does not matter: first the pages with their texts, then what ties them;
what the pages were before comes last.
Some pages are a transaction; one that is refused is told with its reason and stops no other. Between the passes the
texts wait on the disk.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from content.inline_tags import inline_tags
from content.limits import TAGS_MAX
from content.mention_records import MentionRecord
from content.names import normalise
from content.notes import Note
from content.revision_records import RevisionRecord
from content.source_records import SourceRecord
from db.database import Database
from db.measuring import measure
from db.scope import Scope
from db.shelf import Shelf
from db.sql import statements

from ..drafts import PageDraft
from ..errors import BadInput, Conflict, LimitExceeded
from ..owners import set_language
from ..sources import SourceDraft, add_source
from ..upserting import Prepared, count_new_words, prepared, upsert_pages
from ..writing import check_may_write
from .archives import unpacked
from .histories import Histories
from .layout import ABOUT
from .listing import NoteList
from .mentions import Told, hold
from .names import Vault, names
from .paths import is_own as is_own_path
from .pieces import Piece, Problem, WikiRecord, about, pieces, read_all
from .places import Found, Kept, Placed, Places
from .problems import Problems
from .sources import Sources, find_sources, wiki
from .spool import Spool
from .ties import REASON, Tied, Ties, Written, problem
from .waiting import Waiting

__all__ = ["ImportResult", "Problem", "Progress", "import_path"]

T = TypeVar("T")
IMPORTS = statements("imports")
ORIGIN = "imported_from"
EDIT_SUMMARY = "Imported"
ARCHIVE = ".zip"
LONGEST_CHAIN = 10  # of stubs that lead to stubs
TIED_AT_ONCE = 500
READ_AT_ONCE = 10
KNOWN_AT_ONCE = COUNTED_AT_ONCE = 2_000
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
        problems = Problems()
        if path.suffix.lower() == ARCHIVE and await asyncio.to_thread(path.is_file):
            path = await asyncio.to_thread(stack.enter_context, unpacked(path, problems, unpacked_most))
        spool, shelf = stack.enter_context(Spool()), stack.enter_context(Shelf())
        return await Import(database, scope, report, spool, shelf, problems).run(path)


class Import:
    """One run, and what has come of it so far. What it knows of notes is on the shelf, what they say in the spool."""

    def __init__(
        self, database: Database, scope: Scope, report: Progress, spool: Spool, shelf: Shelf, problems: Problems
    ) -> None:
        self.database, self.scope, self.report, self.spool, self.problems = database, scope, report, spool, problems
        self.shelf, self.list, self.places = shelf, NoteList(shelf), Places(shelf)
        self.histories = Histories(shelf)
        self.vault = Vault(shelf, is_export=False)
        self.sources_added = self.created = self.touched = self.kept = self.broken = self.total = 0

    async def run(self, path: Path) -> ImportResult:
        await self.know()
        if said := await asyncio.to_thread(about, path):
            self.vault.is_export = True
            await self.speak(ABOUT, said)
        await asyncio.to_thread(self.list.fill, pieces(path, Waiting(self.shelf)), self.problems)
        await self.read()
        await self.place()
        await self.write()
        failed = self.problems.count
        ties = Ties(self.database, self.scope, self.vault)
        await self.tie(ties)
        await self.redirect(ties)
        await self.histories.write(self.database, self.scope, self.problems)
        return await self.result(failed)

    async def know(self) -> None:
        """Which file is which page already. Refuses who may not write here, before anything is read."""
        await check_may_write(self.database, self.scope)
        after: tuple[str, str] = ("", "")
        while True:
            async with self.database.connection() as connection:
                rows = await connection.all(
                    IMPORTS["find_imported"],
                    **wiki(self.scope),
                    after_type=after[0],
                    after_slug=after[1],
                    size=KNOWN_AT_ONCE,
                )
            self.places.know(rows)
            if len(rows) < KNOWN_AT_ONCE:
                return
            after = rows[-1]["type"], rows[-1]["slug"]

    async def read(self) -> None:
        """The notes; the sources among them are kept at once, so that pages can cite them."""
        done, total = 0, self.list.total()
        for some in self.list.some(READ_AT_ONCE):
            contents = await asyncio.to_thread(read_all, some)
            mentions: list[Told] = []
            for piece, one in zip(some, contents, strict=True):
                done += 1
                self.report("Reading", done, total, piece.label)
                if isinstance(one, Note):
                    self.add(done, piece, one)
                elif isinstance(one, SourceRecord):
                    await self.add_source(piece, one)
                elif isinstance(one, MentionRecord):
                    mentions.append((piece.label, one))
                elif isinstance(one, RevisionRecord):
                    self.histories.add(piece, one)
                elif isinstance(one, WikiRecord):
                    await self.speak(piece.label, one)
                else:
                    self.problems.append(one)
            if mentions:
                self.problems.extend(await hold(self.database, self.scope, mentions))

    async def speak(self, label: str, said: WikiRecord) -> None:
        """The language of an export, for a wiki that has no pages: others keep their own."""
        async with self.database.connection() as connection:
            row = await connection.one(IMPORTS["find_language"], **wiki(self.scope))
        if said.language is None or row is None or row["has_pages"] or row["language"] == said.language:
            return
        try:
            await set_language(self.database, self.scope.tenant_id, self.scope.owner_id, said.language)
        except BadInput as error:
            self.problems.append(problem(label, error))

    def add(self, id: int, piece: Piece, note: Note) -> None:
        found = Found(id, piece.label, note, not piece.is_line)
        self.places.add(found, self.spool.keep(note))
        if not note.redirect_to:
            self.vault.add(found)

    async def add_source(self, piece: Piece, record: SourceRecord) -> None:
        draft = SourceDraft(
            record.kind, record.ref, record.content, record.title, record.captured_at, record.metadata, record.version
        )
        try:
            self.sources_added += (await add_source(self.database, self.scope, draft)).created
        except (BadInput, LimitExceeded) as error:
            self.problems.append(problem(piece.label, error))

    async def place(self) -> None:
        some = self.places.place()
        while placed := await asyncio.to_thread(next, some, None):
            self.problems.extend(one for one in placed if isinstance(one, Problem))
            self.vault.place(one for one in placed if not isinstance(one, Problem))

    async def write(self) -> None:
        """Some pages in one transaction, while the next ones are read."""
        self.total, due, done = self.places.total(), WRITTEN_AT_ONCE, 0
        async for ready in one_ahead(self.prepare(n, some) for n, some in numbered(self.places.to_write)):
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
            wanted = draft(placed, note, self.vault, sources)
            try:
                ready.append((placed, await prepared(wanted)))
            except BadInput as error:
                self.problems.append(problem(placed.label, error))
        return ready

    async def upsert(self, ready: Sequence[tuple[Placed, Prepared]]) -> int:
        """All at once; where one is refused, each for itself. How many are pages now."""
        try:
            saved = await upsert_pages(self.database, self.scope, [one for _, one in ready])
        except (BadInput, Conflict) as error:
            if len(ready) > 1:
                return sum([await self.upsert([one]) for one in ready])
            self.problems.append(problem(ready[0][0].label, error))
            return 0
        self.places.keep(
            Kept(placed, one.page_id, one.created, one.changed) for (placed, _), one in zip(ready, saved, strict=True)
        )
        self.kept += len(saved)
        self.created += sum(one.created for one in saved)
        return len(saved)

    async def tie(self, ties: Ties) -> None:
        done = 0
        for some in self.places.to_tie(TIED_AT_ONCE):
            written = [Written(one.placed, self.spool.take(one.placed.place), one.page_id) for one in some]
            await ties.prepare(written)
            for kept, note in zip(some, written, strict=True):
                tied = await ties.tie(note)
                self.touched += kept.changed or tied.changed
                self.count(tied)
                done += 1
                self.report("Linking", done, self.kept, note.placed.label)
            await ties.keep_dates(written)

    async def redirect(self, ties: Ties) -> None:
        """Names that pages once had: a file each, that says where it leads, maybe to another such file."""
        left = [stub for some in self.places.stubs(TIED_AT_ONCE) for stub in some if not await self.led(ties, *stub)]
        for _ in range(LONGEST_CHAIN):
            before, left = len(left), [stub for stub in left if not await self.led(ties, *stub)]
            if len(left) == before:
                break
        self.broken += len(left)

    async def led(self, ties: Ties, label: str, place: int) -> bool:
        """Whether there is a page where it leads."""
        tied = await ties.redirect(label, self.spool.take(place))
        if tied is None:
            return False
        self.count(tied)
        return True

    def count(self, tied: Tied) -> None:
        self.broken += tied.broken
        self.problems.extend(tied.problems)

    async def result(self, failed: int) -> ImportResult:
        links = broken = 0
        for page_ids in self.places.page_ids(COUNTED_AT_ONCE):
            async with self.database.connection() as connection:
                row = await connection.one(IMPORTS["count_links"], **wiki(self.scope), page_ids=page_ids)
            assert row is not None
            links, broken = links + row["links"], broken + row["broken"]
        return ImportResult(
            created=self.created,
            changed=self.touched - self.created,
            unchanged=self.kept - self.touched,
            failed=failed,
            links=links,
            broken_links=broken + self.broken,
            sources=self.sources_added,
            errors=tuple(self.problems.told),
        )


def draft(placed: Placed, note: Note, vault: Vault, sources: Sources) -> PageDraft:
    """The page that a note asks for. What the note does not have stays as it is on the page.

    An export has told every name of its pages; of other files the name is one too. A file that an export named after
    its page is not where the page came from.
    """
    is_own = vault.is_export and note.slug is not None and is_own_path(placed.label, placed.type, placed.slug)
    origin = {ORIGIN: placed.label} if placed.is_file and not is_own else {}
    uncited = sources.uncited(note)
    return PageDraft(
        type=placed.type,
        title=note.title,
        slug=placed.slug,
        summary=note.summary,
        body=vault.body(placed, note.body),
        aliases=[name for name in (note.aliases if vault.is_export else names(placed, note)) if normalise(name)],
        tags=tags(placed, note, vault) or None,
        metadata=note.metadata | origin | ({"sources": uncited} if uncited else {}),
        status="archived" if note.status == "archived" else None,
        edit_summary=EDIT_SUMMARY,
        alias_source=REASON,
        former_slugs=note.former_slugs,
        section_slugs=note.section_slugs,
    )


def tags(placed: Placed, note: Note, vault: Vault) -> tuple[str, ...]:
    """Those of the header, then those that stand in the text. An export has told all tags of its pages."""
    if not placed.is_file or vault.is_export:
        return note.tags
    told = {tag.casefold() for tag in note.tags}
    return (*note.tags, *(tag for tag in inline_tags(note.body) if tag.casefold() not in told))[:TAGS_MAX]


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


def numbered(batches: Callable[[int], Iterator[list[Placed]]]) -> Iterator[tuple[int, list[Placed]]]:
    """Those that are written at once, and how many there were before them."""
    before = 0
    for some in batches(WRITTEN_AT_ONCE):
        yield before, some
        before += len(some)
