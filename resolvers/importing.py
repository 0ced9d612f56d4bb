"""A folder of markdown notes, or a file with a page on each line, becomes pages. The same again changes nothing.

Two passes over the notes, so that their order does not matter: first the pages with their texts, then what ties them.
Each page is a transaction of its own; one that is refused is told with its reason and stops no other.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol, TypeVar

from content.names import normalise
from content.notes import BadNote
from db.database import Database
from db.scope import Scope
from db.sql import statements

from .errors import BadInput, Conflict, LimitExceeded
from .note_files import Piece, Problem, pieces, read, unreadable
from .note_names import Vault, names
from .note_places import Found, Known, Placed, place
from .note_sources import Sources
from .note_ties import REASON, Tied, Ties, Written, problem, wiki
from .pages import PageDraft, Saved, upsert_page
from .writing import writing

__all__ = ["ImportResult", "Problem", "Progress", "import_path"]

T = TypeVar("T")
IMPORTS = statements("imports")
ORIGIN = "imported_from"
EDIT_SUMMARY = "Imported"


class Progress(Protocol):
    """Hears how far a step is; `current` is the note that is next."""

    def __call__(self, step: str, done: int, total: int, current: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ImportResult:
    """`created`, `changed`, `unchanged` and `failed` count notes, and every note is in one of them.

    `links` are the references that the imported pages have now; `broken_links` the names in texts and in `parent`,
    `related` and `links` that no page answers to. `errors` may also tell of a page that was imported without a tie.
    """

    created: int
    changed: int
    unchanged: int
    failed: int
    links: int
    broken_links: int
    errors: tuple[Problem, ...]


def silent(step: str, done: int, total: int, current: str) -> None:
    """Progress that nobody hears."""


async def import_path(database: Database, scope: Scope, path: Path, *, report: Progress = silent) -> ImportResult:
    """Import the folder, or the `.jsonl` file, into the scope's wiki."""
    return await Import(database, scope, report).run(path)


class Import:
    """One run, and what has come of it so far."""

    def __init__(self, database: Database, scope: Scope, report: Progress) -> None:
        self.database, self.scope, self.report = database, scope, report
        self.problems: list[Problem] = []
        self.saved: list[Saved] = []

    async def run(self, path: Path) -> ImportResult:
        known = await self.known()
        found = await self.read(self.sound(await asyncio.to_thread(pieces, path)))
        notes = self.sound(place(found, known))
        vault, sources = Vault(notes), await self.sources(notes)
        written = await self.write(notes, vault, sources)
        failed = len(self.problems)
        tied = await self.tie(written, Ties(self.database, self.scope, vault, sources))
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
        found = []
        for done, piece in enumerate(pieces):
            self.report("Reading", done, len(pieces), piece.label)
            try:
                note = await asyncio.to_thread(read, piece)
            except BadNote as error:
                self.problems.append(Problem(piece.label, BadInput.code, str(error)))
            except LimitExceeded as error:
                self.problems.append(problem(piece.label, error))
            except OSError as error:
                self.problems.append(unreadable(piece.label, error))
            else:
                found.append(Found(piece.label, note, None if piece.is_line else PurePosixPath(piece.label)))
        return found

    async def sources(self, notes: Sequence[Placed]) -> Sources:
        refs = {citation.ref for note in notes for citation in note.note.sources}
        async with self.database.connection() as connection:
            return Sources(await connection.all(IMPORTS["find_sources"], **wiki(self.scope), refs=sorted(refs)))

    async def write(self, notes: Sequence[Placed], vault: Vault, sources: Sources) -> list[Written]:
        written = []
        for done, note in enumerate(notes):
            self.report("Writing", done, len(notes), note.label)
            try:
                saved = await upsert_page(self.database, self.scope, draft(note, vault, sources))
            except (BadInput, Conflict) as error:
                self.problems.append(problem(note.label, error))
            else:
                self.saved.append(saved)
                written.append(Written(note, saved.page_id))
        return written

    async def tie(self, notes: Sequence[Written], ties: Ties) -> list[Tied]:
        await ties.prepare(notes)
        tied = []
        for done, note in enumerate(notes):
            self.report("Linking", done, len(notes), note.placed.label)
            tied.append(await ties.tie(note))
        return tied

    async def result(self, failed: int, tied: Sequence[Tied]) -> ImportResult:
        page_ids = [saved.page_id for saved in self.saved]
        async with self.database.connection() as connection:
            links = await connection.one(IMPORTS["count_links"], **wiki(self.scope), page_ids=page_ids)
        assert links is not None
        created = sum(saved.created for saved in self.saved)
        touched = sum(saved.changed or tie.changed for saved, tie in zip(self.saved, tied, strict=True))
        return ImportResult(
            created=created,
            changed=touched - created,
            unchanged=len(self.saved) - touched,
            failed=failed,
            links=links["links"],
            broken_links=links["broken"] + sum(tie.broken for tie in tied),
            errors=(*self.problems, *(problem for tie in tied for problem in tie.problems)),
        )


def draft(note: Placed, vault: Vault, sources: Sources) -> PageDraft:
    """The page that a note asks for. What the note does not have stays as it is on the page."""
    origin = {ORIGIN: note.label} if note.path else {}
    uncited = sources.uncited(note.note)
    return PageDraft(
        type=note.type,
        title=note.note.title,
        slug=note.slug,
        summary=note.note.summary,
        body=vault.body(note),
        aliases=[name for name in names(note) if normalise(name)],
        tags=note.note.tags or None,
        metadata=note.note.metadata | origin | ({"sources": uncited} if uncited else {}),
        status="archived" if note.note.status == "archived" else None,
        edit_summary=EDIT_SUMMARY,
        alias_source=REASON,
    )
