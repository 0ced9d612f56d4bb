"""One sync of a folder with a wiki: look at both, decide about each page, do it, and note what both sides are then.

Killed at any moment it is begun again: whatever was done already is recognised, and nothing is written over that the
last sync did not know.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from uuid import UUID

from content.names import normalise
from content.notes.notes import BadNote
from db.database import Database
from db.scope import Scope

from ..errors import BadInput, CairnError, Conflict, Unavailable
from ..import_export.importing import Progress, ignore_progress
from ..import_export.notes import NoteFile
from ..import_export.paths import Paths, is_own
from ..import_export.temp_database import TempDatabase
from ..proposals.gate import ReviewRequired
from ..transactions.transaction import check_may_write
from .attachments import Attachments
from .folder import (
    Listing,
    Seen,
    Touched,
    conflict_of,
    hash_of,
    is_fresh,
    locked,
    look,
    move,
    read,
    recover,
    remove,
    write,
)
from .pages import Changed, Pages, Shown, Wanted, says_same
from .planning import (
    Action,
    Base,
    Direction,
    Event,
    KnownFile,
    NewFile,
    SyncResult,
    allowed,
    decide,
    matched,
    moved,
    path_key,
)
from .state import UNKNOWN, Entry, State, load, save

AT_ONCE = 50
ROUNDS = 4
LOOKS = 10
QUIET = 1.0
"""Seconds for which a file must not change before it is read, and be missing before it counts as deleted."""


async def sync_folder(
    database: Database,
    scope: Scope,
    root: Path,
    *,
    direction: Direction = Direction.BOTH,
    dry_run: bool = False,
    quiet: float = QUIET,
    report: Progress = ignore_progress,
) -> SyncResult:
    """Bring a folder and the scope's wiki to the same, or with `dry_run` say what is to be done.

    Raises Locked while another sync works in the folder, and Forbidden for callers who may not write in the wiki,
    except for one that only pulls.
    """
    if await asyncio.to_thread(root.is_file):
        raise BadInput(f"{root} is a file. Give a folder.", "path")
    if direction is not Direction.PULL:
        await check_may_write(database, scope)
    with locked(str(root)):
        return await Sync(database, scope, str(root), direction, dry_run, quiet, report).run()


@dataclass(slots=True)
class Item:
    """A page and its file, as far as there are: `path` is where the file lies or is to lie."""

    path: str
    id: str | None = None
    entry: Entry | None = None
    seen: Seen | None = None
    hash: str | None = None
    changed: Changed | None = None

    @property
    def base(self) -> Base | None:
        """Return what both were. A file that lies elsewhere now is a changed one."""
        if self.entry is None:
            return None
        return Base(self.entry.file if self.entry.path == self.path else UNKNOWN, self.entry.page)


class Sync:
    """One run, and its results so far."""

    def __init__(
        self,
        database: Database,
        scope: Scope,
        root: str,
        direction: Direction,
        dry_run: bool,
        quiet: float,
        report: Progress,
    ) -> None:
        self.database, self.scope, self.root, self.direction = database, scope, root, direction
        self.dry_run, self.quiet, self.report, self.result = dry_run, quiet, report, SyncResult()
        wiki = str(scope.tenant_id), str(scope.owner_id)
        self.state = load(root) or State(*wiki)
        if (self.state.tenant, self.state.owner) != wiki:
            raise BadInput(f"{root} is synced with another wiki. Remove its .cairn/sync.json to begin anew.", "path")
        self.pages = Pages(database, scope, self.state, root)

    async def run(self) -> SyncResult:
        if not self.dry_run:
            every = [*self.state.pages.values(), *self.state.files.values()]
            await asyncio.to_thread(recover, self.root, {path_key(one.path): one.file for one in every})
        history = await self.pages.history()
        if self.state.history != history:
            self.state.history, self.state.position, self.state.attachments = history, 0, None
        listing = await self.settled()
        for _ in range(ROUNDS):
            self.result.left, self.result.waiting = [], 0
            again = await self.round(listing)
            files = Attachments(self.database, self.scope, self.root, self.state, self.direction, self.result)
            again = await files.sync(listing, dry_run=self.dry_run) or again
            if self.dry_run:
                break
            self.save()
            if not again:
                break
            listing = await asyncio.to_thread(look, self.root)
        self.result.left = [(one.path, one.code, one.message) for one in listing.left.values()] + self.result.left
        self.result.conflicts = sorted((await asyncio.to_thread(look, self.root)).conflicts)
        self.result.waiting += len(self.waiting)
        return self.result

    def save(self) -> None:
        if not self.dry_run:
            save(self.root, self.state)

    # -- the folder

    async def settled(self) -> Listing:
        """Return what is in the folder once no file is being written. One that goes on changing is left for now."""
        before = await asyncio.to_thread(look, self.root)
        suspects = self.unsettled(before)
        for _ in range(LOOKS):
            if not suspects:
                return before
            await asyncio.sleep(self.quiet)
            now = await asyncio.to_thread(look, self.root)
            suspects = {
                key for key in suspects | self.unsettled(now) if before.files.get(key) != now.files.get(key)
            }  # fmt: skip
            before = now
        for key in suspects:
            seen = before.files.pop(key, None)
            before.leave(seen.path if seen else key, "it is being written: the next sync takes it", "BUSY")
        return before

    def unsettled(self, listing: Listing) -> set[str]:
        """Return the keys of files that were written a moment ago, or are missing: an editor may be about to save."""
        entries = [*self.state.pages.values(), *self.state.files.values()]
        nanoseconds = int(self.quiet * 1e9)
        missing = {path_key(one.path) for one in entries} - listing.files.keys()
        return missing | {key for key, seen in listing.files.items() if is_fresh(seen, nanoseconds)}

    # -- one round

    async def round(self, listing: Listing) -> bool:
        """Do what is to be done with pages. Return whether there is more, since something changed meanwhile."""
        self.again, self.behind, self.waiting = False, set[int](), set[str]()
        changes, position = await self.pages.changes()
        changed = {one.id: one for one in changes}
        if not self.state.position:
            gone = [id for id in self.state.pages if id not in changed]
            changed |= {id: Changed(id, 0, None, None, None, None) for id in gone}
        found = await self.items(listing, changed)
        done = 0
        for some in batches(found):
            self.report("Syncing", done, len(found), some[0].path)
            await self.sync(some, listing)
            self.save()
            done += len(some)
        self.report("Syncing", done, len(found), "")
        self.state.position = min((one - 1 for one in self.behind), default=position)
        return self.again

    async def items(self, listing: Listing, changed: Mapping[str, Changed]) -> list[Item]:
        """Return what may be out of step: changed pages with their files, and files that changed, moved or are new."""
        left = dict(listing.files)
        placed = {id: left.pop(path_key(entry.path), None) for id, entry in self.state.pages.items()}
        missing = [
            KnownFile(id, entry.path, entry.file, entry.address)
            for id, entry in self.state.pages.items()
            if placed[id] is None and not listing.is_left(entry.path)
        ]
        new = await asyncio.to_thread(self.new_files, [seen for seen in left.values() if seen.is_note])
        to = moved(missing, new)
        placed |= {id: left[path_key(path)] for id, path in to.items()}
        new = [one for one in new if one.path not in to.values()]
        found: list[Item] = []
        for id, entry in self.state.pages.items():
            if (seen := placed[id]) is None and listing.is_left(entry.path):
                self.wait(changed.get(id))
                continue
            item = Item(seen.path if seen else entry.path, id, entry, seen, None, changed.get(id))
            if await asyncio.to_thread(self.may_differ, item, listing):
                found.append(item)
        pages = [one for id, one in changed.items() if id not in self.state.pages and one.type]
        if new:
            slugs = sorted({one.named.partition("/")[2] for one in new if one.named})
            named = await self.pages.named([one.path for one in new], slugs)
            known = {one.id for one in pages}
            pages += [one for one in named if one.id not in known and one.id not in self.state.pages]
        of_path = matched(new, [one.as_new() for one in pages])
        told = {one.id: one for one in pages}
        for one in new:
            page = told.pop(of_path[one.path]) if one.path in of_path else None
            seen = left[path_key(one.path)]
            found.append(Item(one.path, page.id if page else None, None, seen, one.hash, page))
        absent = [one for one in told.values() if one.status == "active" and one.id in changed]
        found += await asyncio.to_thread(self.without_files, absent, listing)
        return found

    def new_files(self, seen: Sequence[Seen]) -> list[NewFile]:
        """Return what files at new paths say they are."""
        found = []
        for one in seen:
            try:
                data = read(self.root, one)
            except (Touched, OSError):
                continue  # the next sync sees it
            address = named = None
            with suppress(ValueError):
                address, named = self.pages.named_by(one.path, self.pages.note(one.path, data).note)
            found.append(NewFile(one.path, hash_of(data), address, named))
        return found

    def may_differ(self, item: Item, listing: Listing) -> bool:
        """Return whether a page and its file may be out of step; the hash of the file is in the item then."""
        entry, seen = item.entry, item.seen
        assert entry is not None
        if entry.conflict:
            if entry.conflict in listing.conflicts:
                self.wait(item.changed)
                return False
            entry.conflict = None
        if seen is not None:
            if entry.file and (seen.size, seen.mtime) == (entry.size, entry.mtime):
                item.hash = entry.file
            else:
                try:
                    item.hash = hash_of(read(self.root, seen))
                except (Touched, OSError):
                    self.wait(item.changed)
                    return False
        if self.state.proposed.get(item.path, "") == item.hash and not item.changed:
            return False
        if item.changed is None and entry.page != UNKNOWN and item.base == Base(item.hash, entry.page):
            if seen and not is_fresh(seen):
                entry.size, entry.mtime = seen.size, seen.mtime
            return False
        return True

    def without_files(self, pages: Sequence[Changed], listing: Listing) -> Iterable[Item]:
        """Return new pages with the paths that their files get: where they came from, else by type and slug."""
        if not pages:
            return []
        with TempDatabase() as temp:
            paths = self.taken(temp, listing)
            return [Item(paths.take(one.type or "", one.slug or "", one.origin), one.id, changed=one) for one in pages]

    def taken(self, temp: TempDatabase, listing: Listing) -> Paths:
        paths = Paths(temp)
        for key in {*listing.files, *listing.left, *(path_key(one.path) for one in self.state.pages.values())}:
            paths.is_free(key)
        return paths

    def wait(self, changed: Changed | None) -> None:
        """Look at a changed page again in the next sync."""
        if changed is not None and changed.position:
            self.behind.add(changed.position)

    # -- some items

    async def sync(self, items: Sequence[Item], listing: Listing) -> None:
        """Do what is to be done with some items."""
        paths = {item.id: item.path for item in items if item.id and not item.entry}
        shown = await self.pages.shown([item.id for item in items if item.id], paths)
        wanted = await self.wanted(items)
        saved: list[tuple[Item, Wanted, UUID, int]] = []
        for item in items:
            one, asked = shown.get(item.id or ""), wanted.get(item.path)
            if item.seen and item.hash and asked is None and self.is_file_changed(item):
                self.wait(item.changed)
                continue
            action = allowed(self.action(item, one, asked), self.direction)
            if action is None:
                self.waiting.add(item.path)
                self.wait(item.changed)
                continue
            if self.dry_run:
                if action not in (Action.NOTHING, Action.ADOPT, Action.FORGET):
                    self.result.events.append(Event(action, item.path))
                continue
            try:
                written = await self.do(action, item, one, asked, listing)
            except Touched:
                self.again = True
                self.wait(item.changed)
            except ReviewRequired as error:
                self.state.proposed[item.path] = item.hash or ""
                self.result.left.append((item.path, error.code, error.message))
                self.wait(item.changed)
            except Unavailable:
                raise
            except CairnError as error:
                self.again = self.again or isinstance(error, Conflict)
                self.result.left.append((item.path, error.code, error.message))
                self.wait(item.changed)
            except OSError as error:
                self.result.left.append((item.path, "UNWRITABLE", error.strerror or str(error)))
                self.wait(item.changed)
            else:
                if written and asked:
                    saved.append((item, asked, *written))
        await self.finish(saved, shown)

    def is_file_changed(self, item: Item) -> bool:
        return item.base is None or item.base.file != item.hash

    async def wanted(self, items: Sequence[Item]) -> dict[str, Wanted]:
        """Return the pages that changed files ask for. A file that cannot be read as a note is left."""
        notes: dict[str, tuple[str | None, NoteFile]] = {}
        for item in items:
            if item.seen is None or not self.is_file_changed(item):
                continue
            try:
                data = await asyncio.to_thread(read, self.root, item.seen)
                if hash_of(data) == item.hash:
                    notes[item.path] = item.id, await asyncio.to_thread(self.pages.note, item.path, data)
                else:
                    self.again = True
            except Touched:
                self.again = True
            except UnicodeDecodeError:
                self.result.left.append((item.path, BadInput.code, "it is not UTF-8: save it as UTF-8"))
            except BadNote as error:
                self.result.left.append((item.path, BadInput.code, str(error)))
            except OSError as error:
                self.result.left.append((item.path, "UNREADABLE", error.strerror or str(error)))
        return await self.pages.wanted(notes) if notes else {}

    def action(self, item: Item, shown: Shown | None, wanted: Wanted | None) -> Action:
        """Return what to do with an item."""
        page = shown.fingerprint if shown else None
        entry = item.entry
        if entry and entry.page and shown and page and not item.changed and entry.version == shown.row["version"]:
            page = entry.page  # what a page shows may depend on others: it did not change by that
        same = bool(
            shown and page and item.hash and (
                hash_of(shown.data) == item.hash or (wanted is not None and says_same(shown.row, wanted.draft))
            )
        )  # fmt: skip
        if entry and entry.path != item.path:
            same = False  # the page is told of the new path
        return decide(item.base, item.hash, page, same=same)

    async def do(
        self, action: Action, item: Item, shown: Shown | None, wanted: Wanted | None, listing: Listing
    ) -> tuple[UUID, int] | None:
        """Do it. Return the page and the version that were written, if it is to be shown again."""
        match action:
            case Action.ADOPT:
                assert shown is not None
                if wanted is None:
                    self.note(item, shown, replace_hash=item.hash or "", page=shown.fingerprint)
                    return None
                return shown.row["id"], shown.row["version"]
            case Action.PUSH:
                assert wanted is not None
                saved = await self.pages.update(shown, wanted, item.entry) if shown else await self.pages.create(wanted)
                if item.id and not shown:
                    self.state.pages.pop(item.id, None)
                self.say(action, item, "" if shown else "new")
                return saved.page_id, saved.version
            case Action.MERGE:
                assert shown is not None
                assert wanted is not None
                merged = (
                    await self.pages.merge(shown, wanted, item.entry) if item.entry and item.entry.version else None
                )
                if merged is None:
                    await self.conflict(item, shown, listing)
                    return None
                self.say(action, item)
                self.again = True
                self.note(item, shown, replace_hash=item.hash or "", page=UNKNOWN, version=merged.version)
            case Action.CONFLICT:
                assert shown is not None
                await self.conflict(item, shown, listing)
            case Action.PULL:
                assert shown is not None
                await self.pull(item, shown, listing)
            case Action.ARCHIVE:
                assert shown is not None
                await self.pages.archive(str(shown.row["id"]), shown.row["version"])
                self.forget(item)
                self.say(action, item)
            case Action.REMOVE:
                assert item.seen is not None
                await asyncio.to_thread(remove, self.root, item.seen.place, item.hash or "")
                self.forget(item)
                self.say(action, item)
            case Action.FORGET:
                self.forget(item)
        return None

    async def pull(self, item: Item, shown: Shown, listing: Listing) -> None:
        """Write the file of a page. One that lies where its page's slug put it goes along with a new slug."""
        place, entry, type, slug = item.path, item.entry, shown.row["type"], shown.row["slug"]
        if item.seen is not None:
            place = item.seen.place
            if entry and entry.slug != slug and is_own(entry.path, entry.type, entry.slug):
                with TempDatabase() as temp:
                    to = self.taken(temp, listing).take(type, slug)
                await asyncio.to_thread(move, self.root, place, to, item.hash or "")
                item.path = place = to
        await asyncio.to_thread(write, self.root, place, shown.data, item.hash)
        self.say(Action.PULL, item, "" if item.seen else "new")
        self.note(item, shown, replace_hash=hash_of(shown.data), page=shown.fingerprint)

    async def conflict(self, item: Item, shown: Shown, listing: Listing) -> None:
        """Write the text of the wiki beside the file, which stays as it is, as does the page."""
        place = item.seen.place if item.seen else item.path
        name = await asyncio.to_thread(conflict_of, self.root, place, shown.data, listing.conflicts)
        self.say(Action.CONFLICT, item, name)
        self.note(item, shown, replace_hash=UNKNOWN, page=shown.fingerprint, conflict=name)

    def say(self, action: Action, item: Item, detail: str = "") -> None:
        self.result.events.append(Event(action, item.path, detail))

    def forget(self, item: Item) -> None:
        if item.id:
            self.state.pages.pop(item.id, None)

    def note(
        self,
        item: Item,
        shown: Shown,
        *,
        replace_hash: str,
        page: str | None,
        version: int | None = None,
        aliases: Iterable[str] | None = None,
        conflict: str | None = None,
    ) -> None:
        """Note what a page and its file are now."""
        row, seen = shown.row, item.seen
        is_read = seen is not None and replace_hash == item.hash and not is_fresh(seen)
        names = (name for name in row["names"] if normalise(name) != normalise(row["title"]))
        self.state.pages[str(row["id"])] = Entry(
            item.path,
            replace_hash,
            page,
            row["version"] if version is None else version,
            row["type"],
            row["slug"],
            seen.size if seen and is_read else 0,
            seen.mtime if seen and is_read else 0,
            sorted(map(normalise, names if aliases is None else aliases)),
            conflict,
        )
        self.state.proposed.pop(item.path, None)

    async def finish(self, saved: Sequence[tuple[Item, Wanted, UUID, int]], before: Mapping[str, Shown]) -> None:
        """Tie the pages that were written to others, and note what they are then."""
        if not saved:
            return
        rows = [(asked, id, before[str(id)].row if str(id) in before else None) for _, asked, id, _ in saved]
        for problem in await self.pages.tie(rows):
            self.result.left.append((problem.path, problem.code, problem.message))
        paths = {str(id): item.path for item, _, id, _ in saved}
        shown = await self.pages.shown(list(paths), paths)
        for item, asked, id, version in saved:
            one = shown.get(str(id))
            if one is None:
                self.again = True
                continue
            is_ours = one.row["version"] == version
            self.again = self.again or not is_ours
            page = one.fingerprint if is_ours else UNKNOWN
            aliases = asked.draft.aliases
            self.note(item, one, replace_hash=item.hash or "", page=page, version=version, aliases=aliases)


def batches(items: Iterable[Item]) -> Iterable[list[Item]]:
    """Yield the items, some at once."""
    rest = iter(items)
    while some := list(islice(rest, AT_ONCE)):
        yield some
