"""Sync of attachments, which are identified by their paths."""

import asyncio

from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..errors import CairnError, Unavailable
from ..sources.attachments import AttachmentDraft, drop_attachment, keep_attachments, read_attachment
from ..transactions.transaction import read_connection
from .folder import FileChanged, Listing, Seen, hash_of, is_fresh, read, remove, write, write_conflict_file
from .planning import Action, Base, Direction, Event, SyncResult, allowed_action, decide
from .state import UNKNOWN, Entry, State

SYNC = statements("import_export/sync")
ORDER = (Action.PUSH, Action.PULL)
"""The actions that are performed before any deletion, so that a moved file always exists on one side."""


class Attachments:
    """The attachments of a wiki and of a folder."""

    def __init__(
        self, database: Database, scope: Scope, root: str, state: State, direction: Direction, result: SyncResult
    ) -> None:
        self.database, self.scope, self.root, self.state = database, scope, root, state
        self.direction, self.result = direction, result
        self.wiki = scope.wiki_values

    async def sync(self, listing: Listing, *, dry_run: bool) -> bool:
        """Sync all attachments. Return whether another round is needed, because a file changed meanwhile."""
        seen = {seen.path: seen for seen in listing.files.values() if not seen.is_note}
        hashes = await asyncio.to_thread(self.hashes, seen)
        stored = await self.find_changed(hashes)
        if stored is None:
            return False
        todo: list[tuple[Action, str]] = []
        waits = needs_round = False
        for path in sorted({*self.state.files, *hashes, *stored}):
            entry = self.state.files.get(path)
            if listing.is_left(path) or (path in seen and path not in hashes):
                waits = True
                continue
            if entry and entry.conflict:
                if entry.conflict in listing.conflicts:
                    continue
                entry.conflict = None
            base = Base(entry.file, entry.page) if entry else None
            file, page = hashes.get(path), stored.get(path)
            action = allowed_action(decide(base, file, page, same=file == page), self.direction)
            if action is None:
                waits = True
                self.result.waiting += 1
            elif action is not Action.NOTHING:
                todo.append((action, path))
        for action, path in sorted(todo, key=lambda item: (item[0] not in ORDER, item[1])):
            if dry_run:
                if action not in (Action.ADOPT, Action.FORGET):
                    self.result.events.append(Event(action, path))
                continue
            try:
                await self.perform(action, path, seen.get(path), hashes.get(path), stored.get(path), listing)
            except FileChanged:
                needs_round = waits = True
            except Unavailable:
                raise
            except CairnError as error:
                waits = True
                self.result.left.append((path, error.code, error.message))
            except OSError as error:
                waits = True
                self.result.left.append((path, "UNWRITABLE", error.strerror or str(error)))
        if not dry_run:
            self.state.attachments = None if waits else await self.digest()
        return needs_round

    def hashes(self, seen: dict[str, Seen]) -> dict[str, str]:
        """Return the hashes of the files. Files with the same size and time as at the last sync are not read."""
        found = {}
        for path, file in seen.items():
            entry = self.state.files.get(path)
            if entry and entry.file and entry.mtime and (file.size, file.mtime) == (entry.size, entry.mtime):
                found[path] = entry.file
                continue
            try:
                found[path] = hash_of(read(self.root, file))
            except (FileChanged, OSError):
                continue
            if entry and entry.file == found[path] and not is_fresh(file):
                entry.size, entry.mtime = file.size, file.mtime
        return found

    async def find_changed(self, hashes: dict[str, str]) -> dict[str, str] | None:
        """Return the hashes of the wiki's attachments by path; None if both sides are unchanged."""
        if await self.digest() == self.state.attachments:
            known = {path: entry.file for path, entry in self.state.files.items()}
            if known == hashes:
                return None
        async with read_connection(self.database) as connection:
            rows = await connection.all(SYNC["list_attachments"], **self.wiki)
        return {row["path"]: row["hash"] for row in rows}

    async def digest(self) -> str:
        """Return a digest of all attachments of the wiki."""
        async with read_connection(self.database) as connection:
            return await connection.value(SYNC["digest_attachments"], **self.wiki) or "none"

    async def perform(
        self, action: Action, path: str, seen: Seen | None, file: str | None, page: str | None, listing: Listing
    ) -> None:
        detail, conflict = "", None
        match action:
            case Action.PUSH:
                assert seen is not None
                data = await asyncio.to_thread(read, self.root, seen)
                await keep_attachments(
                    self.database, self.scope, [AttachmentDraft(path, bytes.fromhex(hash_of(data)), data)]
                )
                page = file = hash_of(data)
            case Action.PULL:
                found = await read_attachment(self.database, self.scope, path)
                place = seen.place if seen else path
                await asyncio.to_thread(write, self.root, place, found.data, file)
                page = file = found.hash
            case Action.MERGE | Action.CONFLICT:
                assert seen is not None
                found = await read_attachment(self.database, self.scope, path)
                conflict = detail = await asyncio.to_thread(
                    write_conflict_file, self.root, seen.place, found.data, listing.conflicts
                )
                action, file, page = Action.CONFLICT, UNKNOWN, found.hash
            case Action.ARCHIVE:
                if not await drop_attachment(self.database, self.scope, path, bytes.fromhex(page or "")):
                    raise FileChanged(path)
                page = None
            case Action.REMOVE:
                assert seen is not None
                await asyncio.to_thread(remove, self.root, seen.place, file or "")
                file = None
        if file is None and page is None:
            self.state.files.pop(path, None)
        else:
            is_read = seen is not None and action is Action.ADOPT and not is_fresh(seen)
            size, mtime = (seen.size, seen.mtime) if seen and is_read else (0, 0)
            self.state.files[path] = Entry(path, file or UNKNOWN, page, size=size, mtime=mtime, conflict=conflict)
        if action not in (Action.ADOPT, Action.FORGET):
            self.result.events.append(Event(action, path, detail))
