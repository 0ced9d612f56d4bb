"""The plan of a sync: what is to be done with each item, from what it was at the last sync and what it is now.

An item is a page and its file, or an attachment. The functions are pure: nothing here reads a file or the database.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from posixpath import basename
from typing import NamedTuple

from content.normalization import normalize


class Action(StrEnum):
    """Something that a sync does with an item."""

    NOTHING = "nothing"
    ADOPT = "adopt"
    """Both sides say the same: that is noted."""
    PUSH = "push"
    """The wiki takes the text of the file, as an edit."""
    PULL = "pull"
    """The file takes the text of the wiki."""
    MERGE = "merge"
    """Both changed: the sections that only one of them changed are put together, else it is a conflict."""
    CONFLICT = "conflict"
    """Both are there and nobody knows what they were: the text of the wiki goes into a file beside."""
    ARCHIVE = "archive"
    """The file was deleted: its page is archived, an attachment is deleted."""
    REMOVE = "remove"
    """The page was archived or deleted: its file is removed."""
    FORGET = "forget"
    """It is gone on both sides."""
    PROPOSE = "propose"
    """The wiki's policy asks for a review of what would be written: it waits as a proposal."""


class Direction(StrEnum):
    """The side that a sync may write."""

    BOTH = "both"
    PUSH = "push"
    PULL = "pull"


class Event(NamedTuple):
    """Something that a sync did, or would do, and with which file; the detail is for people."""

    action: Action
    path: str
    detail: str = ""


@dataclass(slots=True)
class SyncResult:
    """The result of a sync: what it did, what it left as it is and why, and what waits.

    `conflicts` are the files with the other text that somebody has to look at, `proposed` the files whose edits wait
    for a reviewer; `waiting` counts what the direction of the sync leaves alone.
    """

    events: list[Event] = field(default_factory=list)
    left: list[tuple[str, str, str]] = field(default_factory=list)
    """(path, code, message) of each."""
    conflicts: list[str] = field(default_factory=list)
    proposed: list[tuple[str, str]] = field(default_factory=list)
    """(path, id of the proposal) of each."""
    waiting: int = 0

    def count(self, action: Action) -> int:
        return sum(event.action is action for event in self.events)


WRITES_WIKI = frozenset({Action.PUSH, Action.MERGE, Action.ARCHIVE})
WRITES_FOLDER = frozenset({Action.PULL, Action.REMOVE})


class Base(NamedTuple):
    """The two sides of an item at the last sync, by hashes. None stands for nothing there."""

    file: str | None
    page: str | None


def decide(base: Base | None, file: str | None, page: str | None, *, same: bool = False) -> Action:
    """Return what to do with an item; `same` says that the file and the page say the same now.

    Whoever deletes gives way to whoever changes.
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
    """Return what a sync of this direction does instead of an action; None where the item waits."""
    if direction is Direction.PULL and action is Action.MERGE:
        return Action.CONFLICT
    if direction is Direction.PULL and action in WRITES_WIKI:
        return None
    if direction is Direction.PUSH and action in WRITES_FOLDER:
        return None
    return action


# -- which file is which page


def path_key(path: str) -> str:
    """Return a path as it is compared: some file systems take letters and accents apart, or ignore the case."""
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
    """A file at a path that no item has. `address` is what its header says, `named` what its title would make."""

    path: str
    hash: str
    address: str | None = None
    named: str | None = None


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page that no item is known of: its address, and the path that it was imported from."""

    item: str
    address: str
    origin: str | None = None


def find_moves(missing: Iterable[KnownFile], new: Iterable[NewFile]) -> dict[str, str]:
    """Return the new paths of files that are missing where they were, by their items.

    A file is found by the type and slug in its header, else by its hash, one of the same name before others.
    """
    found: dict[str, str] = {}
    left = {one.path: one for one in sorted(new, key=lambda one: one.path)}
    gone = sorted(missing, key=lambda one: one.path)
    for known in gone:
        by_address = (one for one in left.values() if known.address and one.address == known.address)
        if match := next(by_address, None):
            found[known.item] = left.pop(match.path).path
    for same_name in (True, False):
        for known in gone:
            if known.item in found:
                continue
            alike = (
                one
                for one in left.values()
                if one.hash == known.hash
                and one.address is None
                and (not same_name or basename(one.path) == basename(known.path))
            )
            if match := next(alike, None):
                found[known.item] = left.pop(match.path).path
    return found


def match_files(new: Sequence[NewFile], pages: Sequence[NewPage]) -> dict[str, str]:
    """Return which new file is which page that no item is known of, by path: the items.

    The path that a page was imported from goes first, then the address in the header, then what the title makes.
    """
    found: dict[str, str] = {}
    left = {one.item: one for one in pages}
    for way in (by_origin, by_address, by_name):
        places = {place: item for item, one in reversed(left.items()) if (place := way(one))}
        for file in new:
            item = places.get(wanted) if file.path not in found and (wanted := way(file)) else None
            if item is not None and item in left:
                found[file.path] = item
                del left[item]
    return found


def by_origin(one: NewFile | NewPage) -> str | None:
    path = one.path if isinstance(one, NewFile) else one.origin
    return path_key(path) if path else None


def by_address(one: NewFile | NewPage) -> str | None:
    return one.address


def by_name(one: NewFile | NewPage) -> str | None:
    return (one.named if one.address is None else None) if isinstance(one, NewFile) else one.address


# -- what both changed, merged


Fields = Mapping[str, object]


def merge_fields(base: Fields, own: Fields, other: Fields) -> tuple[dict[str, object], list[str]]:
    """Return the fields of two states that were both made of a third, and the names of those in conflict."""
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
