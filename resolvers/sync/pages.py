"""The pages of a wiki in a sync: rendered as files, and written as ordinary edits."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import isdir, join
from typing import Any, cast
from uuid import UUID

from content.edits.merging import merge_texts
from content.markdown.sections import parse, render
from content.names import NoSlug, normalise, slugify
from content.notes.notes import Note, check_size
from content.sensitivity import FIELD
from db.connection import Row
from db.database import Database
from db.scope import Scope
from db.sensitivity import restricted
from db.sql import statements

from ..errors import Conflict, NotFound
from ..import_export.citations import SourceIds, find_sources
from ..import_export.disk.paths import Paths, is_own
from ..import_export.disk.staging import OriginalFile
from ..import_export.disk.targets import text_of
from ..import_export.disk.temp_database import TempDatabase
from ..import_export.exported_records import EMPTY, ORIGIN
from ..import_export.exporting import Export, PageFile, page_files
from ..import_export.formats import OBSIDIAN_FOLDER, Format, FormatReader, Survey
from ..import_export.names import Vault
from ..import_export.notes import ImportProblem, NoteFile, WikiRecord
from ..import_export.originals import Files, draft, start_of, write_originals
from ..import_export.places import DEFAULT_TYPE, PLACES, NoteFound, NoteSaved, PlacedNote, Places
from ..import_export.relations import NoteWithPage, RelationWriter
from ..model.drafts import PageDraft
from ..model.pages import Saved
from ..pages.lifecycle import archive_page, create_page, unarchive_page, update_page
from ..pages.revision_store import State as Revision
from ..pages.revision_store import find_states
from ..permissions import Action, authorise
from ..proposals.gate import ReviewRequired
from ..transactions.transaction import read_connection, writing
from ..validation import UNSET
from .folder import hash_of, stem_of
from .planning import NewPage, merge_fields
from .state import Entry, State

EXPORTS = statements("import_export/exports")
SYNC = statements("import_export/sync")
CHANGES_PER_BATCH = 1_000
NAMES_PER_BATCH = 500
EDIT_SUMMARY = "Edited in a synced folder"
META = "metadata."


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page as it is now, with the file that it is rendered to."""

    row: Row
    data: bytes

    @property
    def fingerprint(self) -> str | None:
        """Return a hash of the page; None for an archived page, which has no file."""
        if self.row["status"] != "active":
            return None
        return f"{self.row['version']}-{hash_of(self.data)}"


@dataclass(frozen=True, slots=True)
class Changed:
    """A page that changed, with its position in the order of changes. The type of a deleted page is None."""

    id: str
    position: int
    type: str | None
    slug: str | None
    status: str | None
    origin: str | None

    def as_new(self) -> NewPage:
        return NewPage(self.id, f"{self.type}/{self.slug}", self.origin)


@dataclass(frozen=True, slots=True)
class DesiredPage:
    """The page to be written for a file."""

    placed: PlacedNote
    read: NoteFile
    draft: PageDraft

    @property
    def note(self) -> Note:
        return self.read.note


class Pages:
    """The pages of one wiki, with the files of one folder."""

    def __init__(self, database: Database, scope: Scope, state: State, root: str) -> None:
        self.database, self.scope, self.state = database, scope, state
        self.wiki = scope.wiki_values
        is_vault = isdir(join(root, OBSIDIAN_FOLDER))
        self.reader = FormatReader(Format.OBSIDIAN if is_vault else Format.MARKDOWN, Survey())

    # -- read

    async def history(self) -> str:
        """Return the identity of the database's history. Raises NotFound if the caller may not read the wiki."""
        async with read_connection(self.database) as connection:
            await authorise(connection, self.scope, self.scope.owner_id, Action.READ)
            return str(await connection.value(SYNC["find_history"]))

    async def changes(self) -> tuple[list[Changed], int]:
        """Return the pages that changed since the position of the state, and the position of the last change."""
        found: dict[str, Changed] = {}
        position = self.state.position
        async with read_connection(restricted(self.database, self.scope)) as connection:
            while True:
                rows = await connection.all(SYNC["list_changes"], **self.wiki, after=position, size=CHANGES_PER_BATCH)
                for row in rows:
                    found[str(row["id"])] = changed_page(row)
                    position = row["position"]
                if len(rows) < CHANGES_PER_BATCH:
                    return list(found.values()), position

    async def find_named(self, paths: Sequence[str], slugs: Sequence[str]) -> list[Changed]:
        """Return the pages that files at new paths may belong to, by path of origin or by slug."""
        found: list[Changed] = []
        async with read_connection(restricted(self.database, self.scope)) as connection:
            for start in range(0, max(len(paths), len(slugs)), NAMES_PER_BATCH):
                batch = slice(start, start + NAMES_PER_BATCH)
                rows = await connection.all(SYNC["find_named"], **self.wiki, paths=paths[batch], slugs=slugs[batch])
                found += map(changed_page, rows)
        return found

    async def find(self, ids: Sequence[str], paths: Mapping[str, str]) -> dict[str, RenderedPage]:
        """Return pages with the files that they are rendered to. `paths` take precedence over those of the state."""
        if not ids:
            return {}
        async with (
            read_connection(restricted(self.database, self.scope)) as connection,
            connection.raw.transaction(isolation="repeatable_read", readonly=True),
        ):
            export = Export(self.database, connection, self.scope, 0, WikiRecord())
            rows = await connection.all(EXPORTS["find_pages"], **self.wiki, page_ids=[UUID(id) for id in ids])
            known, originals = await export.find_known_sources(rows), await export.originals(rows)
        with TempDatabase() as temp:
            made = await asyncio.to_thread(self.render, temp, rows, known, originals, paths)
        return {str(row["id"]): page for row, page in zip(rows, made, strict=True)}

    def render(
        self, temp: TempDatabase, rows: Sequence[Row], known: frozenset[str], originals: Any, paths: Mapping[str, str]
    ) -> list[RenderedPage]:
        Paths(temp)
        files = Files(temp)
        places = {}
        for row in rows:
            id, address = str(row["id"]), f"{row['type']}/{row['slug']}"
            entry = self.state.pages.get(id)
            places[id] = address, paths.get(id) or (entry.path if entry else f"{address}.md")
        taken = {address for address, _ in places.values()}
        for id, entry in self.state.pages.items():
            if id not in places and entry.address not in taken:
                places[id] = entry.address or "", entry.path
        for id, (address, path) in places.items():
            files.add(UUID(id), f"/wiki/{address}", path)
        found = []
        for row, file in zip(rows, page_files(rows, known, originals, files), strict=True):
            if isinstance(file, ImportProblem):
                raise Conflict(f"{file.path}: {file.message}")
            found.append(RenderedPage(row, text_of(PageFile(file.path, file.note, file.origin, file.exported))))
        return found

    # -- files

    def note(self, path: str, data: bytes) -> NoteFile:
        """Return the note of a file. Raises BadNote, or UnicodeDecodeError, which is a ValueError as well."""
        note = self.reader.note(path, data.decode())
        check_size(note)
        return NoteFile(note, data)

    def type_of(self, path: str, note: Note) -> str:
        return note.type or self.reader.type_of_folder(path) or DEFAULT_TYPE

    def addresses_of(self, path: str, note: Note) -> tuple[str | None, str | None]:
        """Return the address in the header of a file, and the address that its title gives; each may be None."""
        type = self.type_of(path, note)
        try:
            named = f"{type}/{slugify(note.title)}"
        except NoSlug:
            named = None
        return (f"{type}/{note.slug}" if note.slug else None), named

    async def find_desired(self, notes: Mapping[str, tuple[str | None, NoteFile]]) -> dict[str, DesiredPage]:
        """Return the pages to be written for notes, by path. Each note comes with the id of its page, if it has one."""
        sources = await find_sources(self.database, self.scope, [read.note for _, read in notes.values()])
        with TempDatabase() as temp:
            return await asyncio.to_thread(self.drafts, temp, notes, sources)

    def drafts(
        self, temp: TempDatabase, notes: Mapping[str, tuple[str | None, NoteFile]], sources: SourceIds
    ) -> dict[str, DesiredPage]:
        vault, places = self.vault_of(temp, notes)
        found = {}
        for path, (_, read) in notes.items():
            placed = places[path]
            given = draft(placed, read.note, None, vault, sources)
            metadata = dict(given.metadata or {})
            if is_own(path, placed.type, placed.slug):
                metadata.pop(ORIGIN, None)
            found[path] = DesiredPage(
                placed,
                read,
                replace(
                    given, slug=read.note.slug, metadata=metadata, status=None, edit_summary=EDIT_SUMMARY,
                    former_slugs=(), restored=False, replaces_metadata=False,
                ),
            )  # fmt: skip
        return found

    def vault_of(
        self, temp: TempDatabase, notes: Mapping[str, tuple[str | None, NoteFile]]
    ) -> tuple[Vault, dict[str, PlacedNote]]:
        """Return a vault that resolves the links of the folder, and the types and slugs of these notes, by path."""
        places, vault = Places(temp), Vault(temp, self.reader.format)
        placed: dict[str, PlacedNote] = {}
        moved = {id for id, _ in notes.values() if id}
        told = {entry.path: (id, entry.type, entry.slug) for id, entry in self.state.pages.items() if id not in moved}
        for path, (id, read) in notes.items():
            entry = self.state.pages.get(id) if id else None
            told[path] = id or "", *((entry.type, entry.slug) if entry else self.place_of(path, read.note))
        taken = 0
        for number, (path, (id, type, slug)) in enumerate(told.items(), 1):
            note = notes[path][1].note if path in notes else replace(EMPTY, title=stem_of(path))
            placed_note = PlacedNote(number, path, True, type, slug, 0)
            vault.add(NoteFound(number, path, note, True))
            if places.temp.first(PLACES["find_holder"], slug=slug, type=type) is None:
                taken += 1
                places.temp.put(PLACES["take_slug"], id=number, label=path, is_file=True, type=type, slug=slug, place=0)
                vault.place([(number, slug)])
                if id:
                    saved = replace(placed_note, id=taken)
                    places.store_saved([NoteSaved(saved, UUID(id), created=False, changed=False)])
            if path in notes:
                placed[path] = placed_note
        return vault, placed

    def place_of(self, path: str, note: Note) -> tuple[str, str]:
        """Return the type and slug of a new page for a file."""
        address, named = self.addresses_of(path, note)
        type, _, slug = (address or named or f"{self.type_of(path, note)}/page").partition("/")
        return type, slug

    # -- written

    async def create(self, desired: DesiredPage) -> Saved:
        """Create the page of a file."""
        return await create_page(self.database, self.scope, desired.draft)

    async def update(self, rendered: RenderedPage, desired: DesiredPage, before: Entry | None) -> Saved:
        """Update a page from its file. An archived page becomes active. Raises Conflict if the page has changed."""
        here = self.database, self.scope, rendered.row["id"]
        version: int = rendered.row["version"]
        if rendered.row["status"] == "archived":
            await unarchive_page(*here, expected_version=version)
        if says_same(rendered.row, desired.draft) and not is_renamed(before, desired):
            return Saved(rendered.row["id"], version, changed=False)
        return await update_page(
            *here,
            title=desired.draft.title,
            summary=desired.draft.summary,
            body=desired.draft.body or "",
            tags=list(desired.draft.tags or ()),
            metadata={FIELD: None, **(desired.draft.metadata or {})},  # a file without a sensitivity removes it
            aliases=self.names(rendered.row, desired, before),
            expected_version=version,
            edit_summary=EDIT_SUMMARY,
        )

    def names(self, row: Row, desired: DesiredPage, before: Entry | None) -> Any:
        """Return the new aliases of a page, without those that were removed from its file since the last sync.

        UNSET if they are unchanged.
        """
        gone = set(before.aliases) if before else set()
        own = {normalise(name) for name in desired.draft.aliases}
        kept = [name for name in row["names"] if normalise(name) not in gone - own]
        present = {normalise(name) for name in kept}
        new = [name for name in desired.draft.aliases if normalise(name) not in present]
        is_same = len(kept) == len(row["names"]) and not new
        return UNSET if is_same else [*kept, *new]

    async def merge(self, rendered: RenderedPage, desired: DesiredPage, before: Entry) -> Saved | None:
        """Merge the changes of the file and of the page since the last sync.

        Return None if they are in conflict, or if the state of the last sync is gone.
        """
        async with read_connection(restricted(self.database, self.scope)) as connection:
            try:
                (base,) = await find_states(connection, self.scope, rendered.row["id"], (before.version,))
            except NotFound:
                return None
        text = await asyncio.to_thread(
            merge_texts, base.body, render(parse(desired.draft.body or "")), rendered.row["body_md"]
        )
        fields, conflicts = merge_fields(fields_of(base), fields_of(desired.draft), fields_of(rendered.row))
        if conflicts or text.conflicts:
            return None
        origin = {key: value for key, value in (desired.draft.metadata or {}).items() if key == ORIGIN}
        metadata = {name[9:]: value for name, value in fields.items() if name.startswith(META)} | origin
        merged = replace(
            desired.draft,
            title=str(fields["title"]),
            summary=cast("str | None", fields.get("summary")),
            tags=cast("list[str]", fields.get("tags") or []),
            body=text.body,
            metadata=metadata,
        )
        return await self.update(rendered, replace(desired, draft=merged), before)

    async def archive(self, id: str, version: int) -> None:
        """Archive the page of a file that was deleted, if it is still at that version."""
        await archive_page(self.database, self.scope, UUID(id), expected_version=version)

    async def write_relations(
        self, saved: Sequence[tuple[DesiredPage, UUID, Row | None]], *, is_same: bool = True
    ) -> list[ImportProblem]:
        """Write the relations in the headers of files, and store original files; return the problems."""
        written = [(NoteWithPage(page.placed, page.note, id), page, row) for page, id, row in saved]
        problems: list[ImportProblem] = []
        tied = [
            note
            for note, _, row in written
            if note.note.parent or note.note.links or note.note.sources or (row and (row["related"] or row["parent"]))
        ]
        with TempDatabase() as temp:
            notes = {page.placed.label: (str(id), page.read) for page, id, _ in saved}
            vault, _ = await asyncio.to_thread(self.vault_of, temp, notes)
            if tied:
                relation_writer = RelationWriter(self.database, self.scope, vault)
                await relation_writer.prepare(tied)
                for note in tied:
                    problems += (await relation_writer.relate(note)).problems
                try:
                    await relation_writer.store_related(tied)
                except ReviewRequired:
                    for note in tied:
                        problems += await relation_writer.propose_links(note)
            kept = [
                (note, OriginalFile(page.read.file, start_of(page.read)), False)
                for note, page, _ in written
                if is_same and page.draft.metadata and ORIGIN in page.draft.metadata
            ]
            moved = [note.page_id for note, _, _ in kept if is_moved(self.state.pages.get(str(note.page_id)), note)]
            if moved:
                async with writing(self.database, self.scope) as writer:
                    await writer.run(SYNC["drop_originals"], page_ids=moved)
            if kept:
                await write_originals(self.database, self.scope, vault, kept)
        return problems


def changed_page(row: Row) -> Changed:
    return Changed(str(row["id"]), row.get("position") or 0, row["type"], row["slug"], row["status"], row["origin"])


def is_moved(before: Entry | None, note: NoteWithPage) -> bool:
    return before is not None and before.path != note.placed.label


def is_renamed(before: Entry | None, desired: DesiredPage) -> bool:
    """Return whether a file has another path or other aliases than at the last sync."""
    return before is not None and (
        before.path != desired.placed.label or before.aliases != sorted(map(normalise, desired.draft.aliases))
    )


def says_same(row: Row, draft: PageDraft) -> bool:
    """Return whether a page equals the draft of a file, whatever the path of the file."""
    return fields_of(row) == fields_of(draft) and row["body_md"] == render(parse(draft.body or ""))


def fields_of(state: Row | PageDraft | Revision) -> dict[str, Any]:
    """Return the fields of a page that can be merged, without its text. Empty fields are left out."""
    if isinstance(state, PageDraft | Revision):
        title, summary, tags, metadata = state.title, state.summary, state.tags, state.metadata
    else:
        title, summary, tags, metadata = state["title"], state["summary"], state["tags"], state["metadata"]
    kept = {f"{META}{key}": value for key, value in (metadata or {}).items() if key != ORIGIN and value is not None}
    return {"title": title} | ({"summary": summary} if summary else {}) | ({"tags": list(tags)} if tags else {}) | kept
