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
    FileChanged,
    Listing,
    hash_of,
    is_fresh,
    list_folder,
    lock_folder,
    move,
    read,
    recover,
    remove,
    write,
    write_conflict_file,
)
from .items import Item, Items, batches, used_paths
from .pages import Changed, DesiredPage, Pages, RenderedPage, says_same
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
            entries = [*self.state.pages.values(), *self.state.files.values()]
            await asyncio.to_thread(recover, self.root, {path_key(entry.path): entry.file for entry in entries})
        history = await self.pages.history()
        if self.state.history != history:
            self.state.history, self.state.position, self.state.attachments = history, 0, None
        listing = await self.items.list_settled()
        for _ in range(ROUNDS):
            self.result.left, self.result.waiting = [], 0
            needs_round = await self.run_round(listing)
            files = Attachments(self.database, self.scope, self.root, self.state, self.direction, self.result)
            needs_round = await files.sync(listing, dry_run=self.dry_run) or needs_round
            if self.dry_run:
                break
            self.save()
            if not needs_round:
                break
            listing = await asyncio.to_thread(list_folder, self.root)
        self.result.left = [
            (problem.path, problem.code, problem.message) for problem in listing.left.values()
        ] + self.result.left
        self.result.conflicts = sorted((await asyncio.to_thread(list_folder, self.root)).conflicts)
        self.result.waiting += len(self.waiting)
        return self.result

    def save(self) -> None:
        if not self.dry_run:
            save(self.root, self.state)

    async def run_round(self, listing: Listing) -> bool:
        """Sync all pages that differ. Return whether another round is needed, because something changed meanwhile."""
        self.needs_round, self.waiting = False, set[str]()
        self.items.unprocessed.clear()
        changes, position = await self.pages.changes()
        changed = {page.id: page for page in changes}
        if not self.state.position:
            gone = [id for id in self.state.pages if id not in changed]
            changed |= {id: Changed(id, 0, None, None, None, None) for id in gone}
        found = await self.items.find(listing, changed)
        done = 0
        for batch in batches(found):
            self.report("Syncing", done, len(found), batch[0].path)
            await self.sync(batch, listing)
            self.save()
            done += len(batch)
        self.report("Syncing", done, len(found), "")
        self.state.position = min((position - 1 for position in self.items.unprocessed), default=position)
        return self.needs_round

    async def sync(self, items: Sequence[Item], listing: Listing) -> None:
        """Sync some items: choose an action for each and perform it."""
        items = [item for item in items if await self.is_current(item)]
        paths = {item.id: item.path for item in items if item.id and not item.entry}
        rendered_pages = await self.pages.find([item.id for item in items if item.id], paths)
        desired_pages = await self.find_desired(items)
        saved: list[tuple[Item, DesiredPage, UUID, int]] = []
        for item in items:
            rendered, desired = rendered_pages.get(item.id or ""), desired_pages.get(item.path)
            if item.seen and item.hash and desired is None and self.is_file_changed(item):
                self.items.process_again(item.changed)
                continue
            action = allowed_action(self.action(item, rendered, desired), self.direction)
            if action is None:
                self.waiting.add(item.path)
                self.items.process_again(item.changed)
                continue
            if item.review and item.review.is_declined and action in WRITES_WIKI:
                self.reviews.leave_declined(item.review)
                continue
            if self.dry_run:
                if action not in (Action.NOTHING, Action.ADOPT, Action.FORGET):
                    self.result.events.append(Event(action, item.path))
                continue
            try:
                if action in WRITES_WIKI:
                    page_type = rendered.row["type"] if rendered else desired.placed.type if desired else None
                    self.reviews.check_room(page_type)
                written = await self.perform(action, item, rendered, desired, listing)
            except FileChanged:
                self.needs_round = True
                self.items.process_again(item.changed)
            except ReviewRequired as error:
                self.reviews.store_proposal(item.key, item.path, item.hash, error)
                self.items.process_again(item.changed)
            except Unavailable:
                raise
            except CairnError as error:
                self.needs_round = self.needs_round or isinstance(error, Conflict)
                if isinstance(error, TooManyProposals):
                    await self.reviews.refuse_more()
                self.result.left.append((item.path, error.code, error.message))
                self.items.process_again(item.changed)
            except OSError as error:
                self.result.left.append((item.path, "UNWRITABLE", error.strerror or str(error)))
                self.items.process_again(item.changed)
            else:
                if written and desired:
                    saved.append((item, desired, *written))
        await self.finish(saved, rendered_pages)

    async def is_current(self, item: Item) -> bool:
        """Withdraw the proposal of an item whose file has changed; return whether the item can be synced now."""
        if item.review is not None:
            try:
                await self.reviews.supersede(item.key, item.review)
            except Conflict:  # a reviewer has decided the proposal meanwhile
                self.needs_round = True
                self.items.process_again(item.changed)
                return False
        return True

    def is_file_changed(self, item: Item) -> bool:
        is_accepted = item.review is not None and item.review.is_accepted
        return is_accepted or item.base is None or item.base.file != item.hash

    async def find_desired(self, items: Sequence[Item]) -> dict[str, DesiredPage]:
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
                    self.needs_round = True
            except FileChanged:
                self.needs_round = True
            except UnicodeDecodeError:
                self.result.left.append((item.path, BadInput.code, "it is not UTF-8: save it as UTF-8"))
            except BadNote as error:
                self.result.left.append((item.path, BadInput.code, str(error)))
            except OSError as error:
                self.result.left.append((item.path, "UNREADABLE", error.strerror or str(error)))
        return await self.pages.find_desired(notes) if notes else {}

    def action(self, item: Item, rendered: RenderedPage | None, desired: DesiredPage | None) -> Action:
        """Return the action for an item."""
        page = rendered.fingerprint if rendered else None
        entry = item.entry
        if entry and entry.page and rendered and page and not item.changed and entry.version == rendered.row["version"]:
            page = entry.page  # the rendered file depends on other pages, too; that is no change of this page
        same = bool(
            rendered and page and item.hash and (
                hash_of(rendered.data) == item.hash or (desired is not None and says_same(rendered.row, desired.draft))
            )
        )  # fmt: skip
        review = item.review
        if entry and entry.path != item.path and not (review and review.is_accepted and review.is_same):
            same = False  # the new path has to be stored with the page
        action = decide(item.base, item.hash, page, same=same)
        return review.instead(action, page) if review else action

    async def perform(
        self, action: Action, item: Item, rendered: RenderedPage | None, desired: DesiredPage | None, listing: Listing
    ) -> tuple[UUID, int] | None:
        """Perform an action. Return the id and version of the page if its state has to be read again."""
        match action:
            case Action.ADOPT:
                assert rendered is not None
                if desired is None:
                    self.store_entry(item, rendered, replace_hash=item.hash or "", page=rendered.fingerprint)
                    return None
                return rendered.row["id"], rendered.row["version"]
            case Action.PUSH:
                assert desired is not None
                saved = (
                    await self.pages.update(rendered, desired, item.entry)
                    if rendered
                    else await self.pages.create(desired)
                )
                if item.id and not rendered:
                    self.state.pages.pop(item.id, None)
                self.add_event(action, item, "" if rendered else "new")
                return saved.page_id, saved.version
            case Action.MERGE:
                assert rendered is not None
                assert desired is not None
                base = item.entry
                if base and item.review and item.review.is_accepted:
                    base = await self.reviews.merge_base(base, item.review)
                merged = await self.pages.merge(rendered, desired, base) if base and base.version else None
                if merged is None:
                    await self.conflict(item, rendered, listing)
                    return None
                self.add_event(action, item)
                self.needs_round = True
                self.store_entry(item, rendered, replace_hash=item.hash or "", page=UNKNOWN, version=merged.version)
            case Action.CONFLICT:
                assert rendered is not None
                await self.conflict(item, rendered, listing)
            case Action.PULL:
                assert rendered is not None
                if desired is not None and item.review and item.review.is_accepted:
                    rendered = await self.write_relations(item, rendered, desired)
                await self.pull(item, rendered, listing)
            case Action.ARCHIVE:
                assert rendered is not None
                await self.pages.archive(str(rendered.row["id"]), rendered.row["version"])
                self.forget(item)
                self.add_event(action, item)
            case Action.REMOVE:
                assert item.seen is not None
                await asyncio.to_thread(remove, self.root, item.seen.place, item.hash or "")
                self.forget(item)
                self.add_event(action, item)
            case Action.FORGET:
                self.forget(item)
        return None

    async def write_relations(self, item: Item, rendered: RenderedPage, desired: DesiredPage) -> RenderedPage:
        """Write the relations of a file whose accepted proposal a reviewer has amended; return the page after that."""
        id = rendered.row["id"]
        for problem in await self.pages.write_relations([(desired, id, rendered.row)], is_same=False):
            self.result.left.append((problem.path, problem.code, problem.message))
        return (await self.pages.find([str(id)], {str(id): item.path})).get(str(id), rendered)

    async def pull(self, item: Item, rendered: RenderedPage, listing: Listing) -> None:
        """Write the file of a page. A file whose path was made from the slug is moved if the slug has changed."""
        place, entry, type, slug = item.path, item.entry, rendered.row["type"], rendered.row["slug"]
        if item.seen is not None:
            place = item.seen.place
            if entry and entry.slug != slug and is_own(entry.path, entry.type, entry.slug):
                with TempDatabase() as temp:
                    to = used_paths(temp, self.state, listing).take(type, slug)
                await asyncio.to_thread(move, self.root, place, to, item.hash or "")
                item.path = place = to
        await asyncio.to_thread(write, self.root, place, rendered.data, item.hash)
        self.add_event(Action.PULL, item, "" if item.seen else "new")
        self.store_entry(item, rendered, replace_hash=hash_of(rendered.data), page=rendered.fingerprint)

    async def conflict(self, item: Item, rendered: RenderedPage, listing: Listing) -> None:
        """Write the text of the wiki to a conflict file beside the file; the file and the page stay unchanged."""
        place = item.seen.place if item.seen else item.path
        name = await asyncio.to_thread(write_conflict_file, self.root, place, rendered.data, listing.conflicts)
        self.add_event(Action.CONFLICT, item, name)
        self.store_entry(item, rendered, replace_hash=UNKNOWN, page=rendered.fingerprint, conflict=name)
        if item.review and item.review.is_declined:
            self.state.proposed[str(rendered.row["id"])] = replace(item.review.proposed, is_told=True)

    def add_event(self, action: Action, item: Item, detail: str = "") -> None:
        self.result.events.append(Event(action, item.path, detail))

    def forget(self, item: Item) -> None:
        if item.id:
            self.state.pages.pop(item.id, None)
            self.state.proposed.pop(item.id, None)

    def store_entry(
        self,
        item: Item,
        rendered: RenderedPage,
        *,
        replace_hash: str,
        page: str | None,
        version: int | None = None,
        aliases: Iterable[str] | None = None,
        conflict: str | None = None,
    ) -> None:
        """Store the state of a page and its file."""
        row, seen = rendered.row, item.seen
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

    async def finish(
        self, saved: Sequence[tuple[Item, DesiredPage, UUID, int]], before: Mapping[str, RenderedPage]
    ) -> None:
        """Write the relations of the pages that were written, and store the new state of each."""
        if not saved:
            return
        rows = [(desired, id, before[str(id)].row if str(id) in before else None) for _, desired, id, _ in saved]
        for problem in await self.pages.write_relations(rows):
            self.result.left.append((problem.path, problem.code, problem.message))
        paths = {str(id): item.path for item, _, id, _ in saved}
        rendered_pages = await self.pages.find(list(paths), paths)
        for item, desired, id, version in saved:
            rendered = rendered_pages.get(str(id))
            if rendered is None:
                self.needs_round = True
                continue
            is_ours = rendered.row["version"] == version
            self.needs_round = self.needs_round or not is_ours
            page = rendered.fingerprint if is_ours else UNKNOWN
            aliases = desired.draft.aliases
            self.store_entry(item, rendered, replace_hash=item.hash or "", page=page, version=version, aliases=aliases)
