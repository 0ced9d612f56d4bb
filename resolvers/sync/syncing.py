"""One sync of a folder with a wiki: compare both, choose an action for each page, perform it, and store the new state.

A sync that was killed is simply started again: it recognises what was done already, and never overwrites a change that
the last sync did not know.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from content.names import normalise
from content.notes.notes import BadNote
from db.database import Database
from db.scope import Scope

from ..errors import BadInput, CairnError, Conflict, Unavailable
from ..import_export.disk.paths import is_own
from ..import_export.disk.temp_database import TempDatabase
from ..import_export.notes import NoteFile
from ..import_export.results import Progress, ignore_progress
from ..proposals.gate import ReviewRequired
from ..proposals.operations import TooManyProposals
from ..transactions.transaction import check_may_write
from .attachments import Attachments
from .folder import (
    Listing,
    Touched,
    conflict_of,
    hash_of,
    is_fresh,
    lock_folder,
    look,
    move,
    read,
    recover,
    remove,
    write,
)
from .items import Item, Items, batches, paths_of
from .pages import Changed, Pages, Shown, Wanted, says_same
from .planning import WRITES_WIKI, Action, Direction, Event, SyncResult, allowed_action, decide, path_key
from .reviews import Reviews
from .state import UNKNOWN, Entry, State, load, save

ROUNDS = 4
QUIET = 1.0
"""Seconds for which a file must stay unchanged before it is read, or missing before it counts as deleted."""


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
    """Synchronise a folder with the scope's wiki, or with `dry_run` only return the actions.

    Raises Locked while another sync works in the folder, and Forbidden if the caller may not write in the wiki, unless
    the sync only pulls.
    """
    if await asyncio.to_thread(root.is_file):
        raise BadInput(f"{root} is a file. Give a folder.", "path")
    if direction is not Direction.PULL:
        await check_may_write(database, scope)
    with lock_folder(str(root)):
        return await Sync(database, scope, str(root), direction, dry_run, quiet, report).run()


class Sync:
    """One sync and its results so far."""

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
        self.dry_run, self.report, self.result = dry_run, report, SyncResult()
        wiki = str(scope.tenant_id), str(scope.owner_id)
        self.state = load(root) or State(*wiki)
        if (self.state.tenant, self.state.owner) != wiki:
            raise BadInput(f"{root} is synced with another wiki. Remove its .cairn/sync.json to begin anew.", "path")
        self.pages = Pages(database, scope, self.state, root)
        self.reviews = Reviews(database, scope, self.state, direction, self.result, dry_run=dry_run)
        self.items = Items(root, self.state, self.pages, self.reviews, quiet)

    async def run(self) -> SyncResult:
        if not self.dry_run:
            every = [*self.state.pages.values(), *self.state.files.values()]
            await asyncio.to_thread(recover, self.root, {path_key(one.path): one.file for one in every})
        history = await self.pages.history()
        if self.state.history != history:
            self.state.history, self.state.position, self.state.attachments = history, 0, None
        listing = await self.items.list_settled()
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

    # -- one round

    async def round(self, listing: Listing) -> bool:
        """Sync all pages that differ. Return whether another round is needed, because something changed meanwhile."""
        self.again, self.waiting = False, set[str]()
        self.items.behind.clear()
        changes, position = await self.pages.changes()
        changed = {one.id: one for one in changes}
        if not self.state.position:
            gone = [id for id in self.state.pages if id not in changed]
            changed |= {id: Changed(id, 0, None, None, None, None) for id in gone}
        found = await self.items.find(listing, changed)
        done = 0
        for some in batches(found):
            self.report("Syncing", done, len(found), some[0].path)
            await self.sync(some, listing)
            self.save()
            done += len(some)
        self.report("Syncing", done, len(found), "")
        self.state.position = min((one - 1 for one in self.items.behind), default=position)
        return self.again

    # -- some items

    async def sync(self, items: Sequence[Item], listing: Listing) -> None:
        """Sync some items: choose an action for each and perform it."""
        items = [item for item in items if await self.is_current(item)]
        paths = {item.id: item.path for item in items if item.id and not item.entry}
        shown = await self.pages.find([item.id for item in items if item.id], paths)
        wanted = await self.find_wanted(items)
        saved: list[tuple[Item, Wanted, UUID, int]] = []
        for item in items:
            one, asked = shown.get(item.id or ""), wanted.get(item.path)
            if item.seen and item.hash and asked is None and self.is_file_changed(item):
                self.items.wait(item.changed)
                continue
            action = allowed_action(self.action(item, one, asked), self.direction)
            if action is None:
                self.waiting.add(item.path)
                self.items.wait(item.changed)
                continue
            if item.review and item.review.is_declined and action in WRITES_WIKI:
                self.reviews.leave(item.review)
                continue
            if self.dry_run:
                if action not in (Action.NOTHING, Action.ADOPT, Action.FORGET):
                    self.result.events.append(Event(action, item.path))
                continue
            try:
                if action in WRITES_WIKI:
                    self.reviews.check_room(one.row["type"] if one else asked.placed.type if asked else None)
                written = await self.do(action, item, one, asked, listing)
            except Touched:
                self.again = True
                self.items.wait(item.changed)
            except ReviewRequired as error:
                self.reviews.keep(item.key, item.path, item.hash, error)
                self.items.wait(item.changed)
            except Unavailable:
                raise
            except CairnError as error:
                self.again = self.again or isinstance(error, Conflict)
                if isinstance(error, TooManyProposals):
                    await self.reviews.fill()
                self.result.left.append((item.path, error.code, error.message))
                self.items.wait(item.changed)
            except OSError as error:
                self.result.left.append((item.path, "UNWRITABLE", error.strerror or str(error)))
                self.items.wait(item.changed)
            else:
                if written and asked:
                    saved.append((item, asked, *written))
        await self.finish(saved, shown)

    async def is_current(self, item: Item) -> bool:
        """Withdraw the proposal of an item whose file has changed; return whether the item can be synced now."""
        if item.review is not None:
            try:
                await self.reviews.supersede(item.key, item.review)
            except Conflict:  # a reviewer has decided the proposal meanwhile
                self.again = True
                self.items.wait(item.changed)
                return False
        return True

    def is_file_changed(self, item: Item) -> bool:
        is_accepted = item.review is not None and item.review.is_accepted
        return is_accepted or item.base is None or item.base.file != item.hash

    async def find_wanted(self, items: Sequence[Item]) -> dict[str, Wanted]:
        """Return the pages to be written for changed files, by path. A file that is not a valid note is left alone."""
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
        return await self.pages.find_wanted(notes) if notes else {}

    def action(self, item: Item, shown: Shown | None, wanted: Wanted | None) -> Action:
        """Return the action for an item."""
        page = shown.fingerprint if shown else None
        entry = item.entry
        if entry and entry.page and shown and page and not item.changed and entry.version == shown.row["version"]:
            page = entry.page  # the rendered file depends on other pages, too; that is no change of this page
        same = bool(
            shown and page and item.hash and (
                hash_of(shown.data) == item.hash or (wanted is not None and says_same(shown.row, wanted.draft))
            )
        )  # fmt: skip
        review = item.review
        if entry and entry.path != item.path and not (review and review.is_accepted and review.is_same):
            same = False  # the new path has to be stored with the page
        action = decide(item.base, item.hash, page, same=same)
        return review.instead(action, page) if review else action

    async def do(
        self, action: Action, item: Item, shown: Shown | None, wanted: Wanted | None, listing: Listing
    ) -> tuple[UUID, int] | None:
        """Perform an action. Return the id and version of the page if its state has to be read again."""
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
                base = item.entry
                if base and item.review and item.review.is_accepted:
                    base = await self.reviews.base(base, item.review)
                merged = await self.pages.merge(shown, wanted, base) if base and base.version else None
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
                if wanted is not None and item.review and item.review.is_accepted:
                    shown = await self.tie(item, shown, wanted)
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

    async def tie(self, item: Item, shown: Shown, wanted: Wanted) -> Shown:
        """Write the relations of a file whose accepted proposal a reviewer has amended; return the page after that."""
        id = shown.row["id"]
        for problem in await self.pages.tie([(wanted, id, shown.row)], is_same=False):
            self.result.left.append((problem.path, problem.code, problem.message))
        return (await self.pages.find([str(id)], {str(id): item.path})).get(str(id), shown)

    async def pull(self, item: Item, shown: Shown, listing: Listing) -> None:
        """Write the file of a page. A file whose path was made from the slug is moved if the slug has changed."""
        place, entry, type, slug = item.path, item.entry, shown.row["type"], shown.row["slug"]
        if item.seen is not None:
            place = item.seen.place
            if entry and entry.slug != slug and is_own(entry.path, entry.type, entry.slug):
                with TempDatabase() as temp:
                    to = paths_of(temp, self.state, listing).take(type, slug)
                await asyncio.to_thread(move, self.root, place, to, item.hash or "")
                item.path = place = to
        await asyncio.to_thread(write, self.root, place, shown.data, item.hash)
        self.say(Action.PULL, item, "" if item.seen else "new")
        self.note(item, shown, replace_hash=hash_of(shown.data), page=shown.fingerprint)

    async def conflict(self, item: Item, shown: Shown, listing: Listing) -> None:
        """Write the text of the wiki to a conflict file beside the file; the file and the page stay unchanged."""
        place = item.seen.place if item.seen else item.path
        name = await asyncio.to_thread(conflict_of, self.root, place, shown.data, listing.conflicts)
        self.say(Action.CONFLICT, item, name)
        self.note(item, shown, replace_hash=UNKNOWN, page=shown.fingerprint, conflict=name)
        if item.review and item.review.is_declined:
            self.state.proposed[str(shown.row["id"])] = replace(item.review.proposed, is_told=True)

    def say(self, action: Action, item: Item, detail: str = "") -> None:
        self.result.events.append(Event(action, item.path, detail))

    def forget(self, item: Item) -> None:
        if item.id:
            self.state.pages.pop(item.id, None)
            self.state.proposed.pop(item.id, None)

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
        """Store the state of a page and its file."""
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
        for key in (str(row["id"]), item.path):
            self.state.proposed.pop(key, None)

    async def finish(self, saved: Sequence[tuple[Item, Wanted, UUID, int]], before: Mapping[str, Shown]) -> None:
        """Write the relations of the pages that were written, and store the new state of each."""
        if not saved:
            return
        rows = [(asked, id, before[str(id)].row if str(id) in before else None) for _, asked, id, _ in saved]
        for problem in await self.pages.tie(rows):
            self.result.left.append((problem.path, problem.code, problem.message))
        paths = {str(id): item.path for item, _, id, _ in saved}
        shown = await self.pages.find(list(paths), paths)
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
