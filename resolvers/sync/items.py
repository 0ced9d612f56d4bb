"""Find the pages and files that may differ, by comparing them with the state of the last sync."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..import_export.disk.paths import Paths
from ..import_export.disk.temp_database import TempDatabase
from .folder import FileChanged, Listing, Seen, hash_of, is_fresh, list_folder, read
from .pages import Changed, Pages
from .planning import Base, KnownFile, NewFile, find_moves, match_files, path_key
from .reviews import Review, Reviews
from .state import UNKNOWN, Entry, State

ITEMS_PER_BATCH = 250
BYTES_PER_BATCH = 4_000_000
UNSEEN = BYTES_PER_BATCH // 100
"""The bytes that a page without a file counts in a batch."""
LOOKS = 10


@dataclass(slots=True)
class Item:
    """A page and its file, either of which may be missing. `path` is that of the file, or the one that it will get."""

    path: str
    id: str | None = None
    entry: Entry | None = None
    seen: Seen | None = None
    hash: str | None = None
    changed: Changed | None = None
    review: Review | None = None

    @property
    def key(self) -> str:
        """Return the key of the item's proposals."""
        return self.id if self.id and self.entry else self.path

    @property
    def base(self) -> Base | None:
        """Return both sides at the last sync. A file that was moved counts as changed."""
        if self.entry is None:
            return None
        return Base(self.entry.file if self.entry.path == self.path else UNKNOWN, self.entry.page)


class Items:
    """The search for the items of each round of one sync.

    `unprocessed` has the positions of the changes that the next sync has to process again.
    """

    def __init__(self, root: str, state: State, pages: Pages, reviews: Reviews, quiet: float) -> None:
        self.root, self.state, self.pages, self.reviews, self.quiet = root, state, pages, reviews, quiet
        self.unprocessed = set[int]()

    async def list_settled(self) -> Listing:
        """List the folder once no file is being written. A file that keeps changing is left for the next sync."""
        before = await asyncio.to_thread(list_folder, self.root)
        suspects = self.unsettled_keys(before)
        for _ in range(LOOKS):
            if not suspects:
                return before
            await asyncio.sleep(self.quiet)
            now = await asyncio.to_thread(list_folder, self.root)
            suspects = {
                key for key in suspects | self.unsettled_keys(now) if before.files.get(key) != now.files.get(key)
            }  # fmt: skip
            before = now
        for key in suspects:
            seen = before.files.pop(key, None)
            before.leave(seen.path if seen else key, "it is being written: the next sync takes it", "BUSY")
        return before

    def unsettled_keys(self, listing: Listing) -> set[str]:
        """Return the keys of files that were just written or are missing, which an editor may be saving."""
        entries = [*self.state.pages.values(), *self.state.files.values()]
        nanoseconds = int(self.quiet * 1e9)
        missing = {path_key(entry.path) for entry in entries} - listing.files.keys()
        return missing | {key for key, seen in listing.files.items() if is_fresh(seen, nanoseconds)}

    async def find(self, listing: Listing, changed: Mapping[str, Changed]) -> list[Item]:
        """Return the items that may differ: changed pages with their files, and changed, moved or new files."""
        await self.reviews.load_decisions()
        left = dict(listing.files)
        placed = {id: left.pop(path_key(entry.path), None) for id, entry in self.state.pages.items()}
        missing = [
            KnownFile(id, entry.path, entry.file, entry.address)
            for id, entry in self.state.pages.items()
            if placed[id] is None and not listing.is_left(entry.path)
        ]
        new = await asyncio.to_thread(self.new_files, [seen for seen in left.values() if seen.is_note])
        to = find_moves(missing, new)
        placed |= {id: left[path_key(path)] for id, path in to.items()}
        there = {key for key in self.state.proposed if path_key(key) in left or listing.is_left(key)}
        await self.reviews.withdraw_gone(there.difference(to.values()))
        new = [file for file in new if file.path not in to.values()]
        found: list[Item] = []
        for id, entry in self.state.pages.items():
            if (seen := placed[id]) is None and listing.is_left(entry.path):
                self.process_again(changed.get(id))
                continue
            item = Item(seen.path if seen else entry.path, id, entry, seen, None, changed.get(id))
            if await asyncio.to_thread(self.may_differ, item, listing):
                found.append(item)
        pages = [page for id, page in changed.items() if id not in self.state.pages and page.type]
        if new:
            slugs = sorted({file.named.partition("/")[2] for file in new if file.named})
            named = await self.pages.find_named([file.path for file in new], slugs)
            known = {page.id for page in pages}
            pages += [page for page in named if page.id not in known and page.id not in self.state.pages]
        of_path = match_files(new, [page.as_new() for page in pages])
        remaining = {page.id: page for page in pages}
        for file in new:
            page = remaining.pop(of_path[file.path]) if file.path in of_path else None
            seen = left[path_key(file.path)]
            item = Item(file.path, page.id if page else None, None, seen, file.hash, page)
            if self.is_due(item):
                found.append(item)
        absent = [page for page in remaining.values() if page.status == "active" and page.id in changed]
        found += await asyncio.to_thread(self.without_files, absent, listing)
        return found

    def new_files(self, seen: Sequence[Seen]) -> list[NewFile]:
        """Read the addresses of files at new paths."""
        found = []
        for file in seen:
            try:
                data = read(self.root, file)
            except (FileChanged, OSError):
                continue  # the next sync reads it
            address = named = None
            with suppress(ValueError):
                address, named = self.pages.addresses_of(file.path, self.pages.note(file.path, data).note)
            found.append(NewFile(file.path, hash_of(data), address, named))
        return found

    def may_differ(self, item: Item, listing: Listing) -> bool:
        """Return whether a page and its file may differ; if so, the item has the hash of the file."""
        entry, seen = item.entry, item.seen
        assert entry is not None
        if entry.conflict:
            if entry.conflict in listing.conflicts:
                self.process_again(item.changed)
                return False
            entry.conflict = None
        if seen is not None:
            if entry.file and (seen.size, seen.mtime) == (entry.size, entry.mtime):
                item.hash = entry.file
            else:
                try:
                    item.hash = hash_of(read(self.root, seen))
                except (FileChanged, OSError):
                    self.process_again(item.changed)
                    return False
        if item.id in self.state.proposed:
            return self.is_due(item)
        if item.changed is None and entry.page != UNKNOWN and item.base == Base(item.hash, entry.page):
            if seen and not is_fresh(seen):
                entry.size, entry.mtime = seen.size, seen.mtime
            return False
        return True

    def is_due(self, item: Item) -> bool:
        """Return whether an item can be synced, and does not wait for a reviewer or for a new edit of its author."""
        item.review = review = self.reviews.find_review(item.key, item.path, item.hash)
        if review is None:
            return True
        if self.reviews.is_waiting(review):
            self.process_again(item.changed)
            return False
        if review.is_declined and not item.changed and (item.entry is None or review.proposed.is_told):
            self.reviews.leave_declined(review)
            return False
        return True

    def without_files(self, pages: Sequence[Changed], listing: Listing) -> Iterable[Item]:
        """Return items for new pages with the paths of their files: the path of origin, else one of type and slug."""
        if not pages:
            return []
        with TempDatabase() as temp:
            paths = used_paths(temp, self.state, listing)
            return [
                Item(paths.take(page.type or "", page.slug or "", page.origin), page.id, changed=page) for page in pages
            ]

    def process_again(self, changed: Changed | None) -> None:
        """Let the next sync process a changed page again."""
        if changed is not None and changed.position:
            self.unprocessed.add(changed.position)


def used_paths(temp: TempDatabase, state: State, listing: Listing) -> Paths:
    """Return the paths in use, by files and by the state, from which new files take free ones."""
    paths = Paths(temp)
    for key in {*listing.files, *listing.left, *(path_key(entry.path) for entry in state.pages.values())}:
        paths.is_free(key)
    return paths


def batches(items: Iterable[Item]) -> Iterable[list[Item]]:
    """Yield the items in batches. Each batch reads the names of all pages, and keeps its own texts in memory."""
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += item.seen.size if item.seen else UNSEEN
        if len(batch) >= ITEMS_PER_BATCH or size >= BYTES_PER_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
