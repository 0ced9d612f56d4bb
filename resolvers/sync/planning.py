"""The plan of a sync: the action for each item, chosen by its state at the last sync and its state now.

An item is a page with its file, or an attachment. The functions are pure: they read neither files nor the database.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from posixpath import basename
from typing import NamedTuple

from content.normalization import normalize


class Action(StrEnum):
    """An action of a sync on an item."""

    NOTHING = "nothing"
    ADOPT = "adopt"
    """The file and the page are equal; only the state is stored."""
    PUSH = "push"
    """The text of the file is written to the wiki, as an edit."""
    PULL = "pull"
    """The text of the wiki is written to the file."""
    MERGE = "merge"
    """Both changed; the changes are merged, or, if both changed the same section, there is a conflict."""
    CONFLICT = "conflict"
    """Both exist and differ without a known base; the text of the wiki is written to a conflict file."""
    ARCHIVE = "archive"
    """The file was deleted; its page is archived, or the attachment is deleted."""
    REMOVE = "remove"
    """The page was archived or deleted; its file is removed."""
    FORGET = "forget"
    """The item was deleted on both sides; its state is removed."""
    PROPOSE = "propose"
    """The write policy of the wiki requires a review; the edit is stored as a proposal."""


class Direction(StrEnum):
    """The direction of a sync: PUSH writes only to the wiki, PULL only to the folder."""

    BOTH = "both"
    PUSH = "push"
    PULL = "pull"


class Event(NamedTuple):
    """An action that a sync performed, or would perform, on a file, with a detail for messages."""

    action: Action
    path: str
    detail: str = ""


@dataclass(slots=True)
class SyncResult:
    """The result of a sync.

    `events` are its actions, and `left` the items that were left unchanged, with the reasons. `conflicts` are the
    conflict files that a person has to resolve, and `proposed` the files whose edits wait for a reviewer. `waiting` is
    the number of items that the direction of the sync does not allow to be synced.
    """

    events: list[Event] = field(default_factory=list)
    left: list[tuple[str, str, str]] = field(default_factory=list)
    """The path, code and message of each item."""
    conflicts: list[str] = field(default_factory=list)
    proposed: list[tuple[str, str]] = field(default_factory=list)
    """The path of each file, and the id of its proposal."""
    waiting: int = 0

    def count(self, action: Action) -> int:
        return sum(event.action is action for event in self.events)


WRITES_WIKI = frozenset({Action.PUSH, Action.MERGE, Action.ARCHIVE})
WRITES_FOLDER = frozenset({Action.PULL, Action.REMOVE})


class Base(NamedTuple):
    """The hashes of the file and of the page of an item at the last sync; None for a missing side."""

    file: str | None
    page: str | None


def decide(base: Base | None, file: str | None, page: str | None, *, same: bool = False) -> Action:
    """Return the action for an item. `same` says that the file and the page are equal now.

    A change on one side takes precedence over a deletion on the other.
    """
    if file is None and page is None:
        return Action.FORGET if base else Action.NOTHING
    if base is None:
        if file is None or page is None:
            return Action.PULL if file is None else Action.PUSH
        return Action.ADOPT if same else Action.CONFLICT
    file_changed, page_changed = file != base.file, page != base.page
    if not file_changed and not page_changed:
        return Action.NOTHING
    if file is not None and page is not None:
        if same:
            return Action.ADOPT
        if file_changed and page_changed:
            return Action.MERGE
        return Action.PUSH if file_changed else Action.PULL
    if file is None:
        return Action.PULL if page_changed else Action.ARCHIVE
    return Action.PUSH if file_changed else Action.REMOVE


def allowed_action(action: Action, direction: Direction) -> Action | None:
    """Return the action that the direction of the sync allows in place of `action`; None if the item has to wait."""
    if direction is Direction.PULL and action is Action.MERGE:
        return Action.CONFLICT
    if direction is Direction.PULL and action in WRITES_WIKI:
        return None
    if direction is Direction.PUSH and action in WRITES_FOLDER:
        return None
    return action


# -- which file is which page


def path_key(path: str) -> str:
    """Return the comparison key of a path: some file systems decompose accented letters, or ignore the case."""
    return normalize("NFC", path).casefold()


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file of the last sync: its item, its path, its hash and the address of its page, `type/slug`."""

    item: str
    path: str
    hash: str | None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file at a path without an item. `address` is that of its header, and `named` the one that its title gives."""

    path: str
    hash: str
    address: str | None = None
    named: str | None = None


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page without an item: its address, and the path that it was imported from."""

    item: str
    address: str
    origin: str | None = None


def find_moves(missing: Iterable[KnownFile], new: Iterable[NewFile]) -> dict[str, str]:
    """Return the new paths of moved files, by their items.

    A moved file is found by the address in its header, else by its hash; a file with the same name is preferred.
    """
    found: dict[str, str] = {}
    left = {file.path: file for file in sorted(new, key=lambda file: file.path)}
    gone = sorted(missing, key=lambda file: file.path)
    for known in gone:
        by_address = (file for file in left.values() if known.address and file.address == known.address)
        if match := next(by_address, None):
            found[known.item] = left.pop(match.path).path
    for same_name in (True, False):
        for known in gone:
            if known.item in found:
                continue
            alike = (
                file
                for file in left.values()
                if file.hash == known.hash
                and file.address is None
                and (not same_name or basename(file.path) == basename(known.path))
            )
            if match := next(alike, None):
                found[known.item] = left.pop(match.path).path
    return found


def match_files(new: Sequence[NewFile], pages: Sequence[NewPage]) -> dict[str, str]:
    """Return the items of the new pages that new files belong to, by path.

    Pages are matched by the path that they were imported from, then by the address in the header of the file, then by
    the address that its title gives.
    """
    found: dict[str, str] = {}
    left = {page.item: page for page in pages}
    for way in (by_origin, by_address, by_name):
        places = {place: item for item, page in reversed(left.items()) if (place := way(page))}
        for file in new:
            item = places.get(desired) if file.path not in found and (desired := way(file)) else None
            if item is not None and item in left:
                found[file.path] = item
                del left[item]
    return found


def by_origin(item: NewFile | NewPage) -> str | None:
    path = item.path if isinstance(item, NewFile) else item.origin
    return path_key(path) if path else None


def by_address(item: NewFile | NewPage) -> str | None:
    return item.address


def by_name(item: NewFile | NewPage) -> str | None:
    return (item.named if item.address is None else None) if isinstance(item, NewFile) else item.address


# -- merging of fields


Fields = Mapping[str, object]


def merge_fields(base: Fields, own: Fields, other: Fields) -> tuple[dict[str, object], list[str]]:
    """Merge the fields of two states with a common base; return the fields, and the names of those in conflict."""
    found: dict[str, object] = {}
    conflicts: list[str] = []
    for name in dict.fromkeys((*base, *own, *other)):
        was, mine, theirs = base.get(name), own.get(name), other.get(name)
        if mine != was and theirs not in (was, mine):
            conflicts.append(name)
        chosen = theirs if mine == was else mine
        if chosen is not None:
            found[name] = chosen
    return found, conflicts
