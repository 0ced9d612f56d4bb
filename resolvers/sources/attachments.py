"""Attachments of a wiki: files that are stored byte for byte by path, and found by the names that texts use."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from content.markdown.attachments import composed_path, file_key, likely_paths, media_type, picture_size
from content.normalization import normalize
from db.connection import Row
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..errors import Forbidden, NotFound
from ..permissions import Action, authorise
from ..proposals.gate import Policy, policy_for, rules_of
from ..transactions.transaction import read_connection, writing
from ..transactions.writer import Writer
from .blob_files import data_of, drop_files
from .blobs import drop_unused_blobs, keep_blob

ATTACHMENTS = statements("import_export/attachments")
NO_FILE = "There is no such attachment in this wiki, or none that you may see."
REVIEWED = "Attachments cannot be proposed, and writes of your role are reviewed in this wiki. None was kept."


class AttachmentDraft(NamedTuple):
    """A file to store: its path in the folder of notes, its SHA-256 and its bytes."""

    path: str
    hash: bytes
    data: bytes


class AttachmentPlace(NamedTuple):
    """The path of an attachment, its media type and, for a picture, its size in pixels."""

    path: str
    media_type: str
    width: int | None
    height: int | None


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """An attachment with its bytes."""

    path: str
    media_type: str
    hash: str
    data: bytes


async def find_same(database: Database, scope: Scope, files: Mapping[str, bytes]) -> set[str]:
    """Return the paths of `files` (path to SHA-256) at which the wiki has a file with the same hash."""
    values: dict[str, Any] = {"paths": list(files), "hashes": list(files.values())}
    async with read_connection(database) as connection:
        return {row["path"] for row in await connection.all(ATTACHMENTS["find_same"], **scope.wiki_values, **values)}


async def keep_attachments(database: Database, scope: Scope, files: Sequence[AttachmentDraft]) -> int:
    """Store files in one transaction, replacing the files at their paths. Return how many are new or changed.

    Raises Forbidden if the writes of this role are reviewed or refused, because files cannot be proposed.
    """
    changed, former = 0, set[bytes]()
    async with writing(database, scope) as writer:
        await check_policy(writer)
        for file in files:
            await keep_blob(database, writer, file.hash, file.data)
            size = picture_size(file.data) or (None, None)
            row = await writer.one(
                ATTACHMENTS["put"],
                path=file.path,
                name=file_key(file.path),
                hash=file.hash,
                media_type=media_type(file.path),
                width=size[0],
                height=size[1],
            )
            changed += row is not None
            former |= {row["former"]} if row and row["former"] else set()
        gone = await drop_unused_blobs(writer, former)
    await drop_files(database, scope, gone)
    return changed


async def drop_attachment(database: Database, scope: Scope, path: str, hash: bytes) -> bool:
    """Delete an attachment if its file still has this hash. Return whether it was deleted."""
    async with writing(database, scope) as writer:
        await check_policy(writer)
        dropped = await writer.run(ATTACHMENTS["drop_file"], path=path, hash=hash)
        gone = await drop_unused_blobs(writer, {hash} if dropped else set())
    await drop_files(database, scope, gone)
    return bool(dropped)


async def check_policy(writer: Writer) -> None:
    """Raise Forbidden unless the wiki is open to writes of the scope's role.

    The write of a proposal that a reviewer accepts passes. A write that is meant as a proposal is refused.
    """
    rules = rules_of(await writer.value(ATTACHMENTS["find_policy"]) or ())
    review = writer.scope.review
    if review and review.reviewer:
        return
    if (review and review.terms) or policy_for(rules, writer.scope, None) is not Policy.OPEN:
        raise Forbidden(REVIEWED)


async def find_attachments(
    database: Database, scope: Scope, folder: str, names: Collection[str]
) -> dict[str, AttachmentPlace]:
    """Return the attachments that a note in `folder` means by these names, by name.

    A name means the file at that path relative to the note, else a file whose path ends with the name, else the file
    with that name that has the shortest path.
    """
    wanted = AttachmentLookup.of(folder, names)
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        rows = await connection.all(ATTACHMENTS["find_named"], **scope.wiki_values, **wanted.values)
    return {name: place_of(row) for name, row in wanted.among(rows)}


async def find_paths(writer: Writer, folder: str, names: Collection[str]) -> set[str]:
    """Return the paths of the attachments in the writer's wiki that a note in `folder` means by these names."""
    if not names:
        return set()
    wanted = AttachmentLookup.of(folder, names)
    rows = await writer.all(ATTACHMENTS["find_named"], **wanted.values)
    return {row["path"] for _, row in wanted.among(rows)}


class AttachmentLookup(NamedTuple):
    """The names of attachments in a text, to be looked up."""

    likely: Mapping[str, Sequence[str]]
    """The paths where the attachment of a name may be, the likeliest first."""

    @classmethod
    def of(cls, folder: str, names: Collection[str]) -> "AttachmentLookup":
        return cls({name: likely_paths(name, folder) for name in names})

    @property
    def values(self) -> dict[str, Any]:
        """Return the parameters of the statement `find_named`.

        Imports of earlier releases stored names with decomposed letters as such.
        """
        keys = {file_key(name) for name in self.likely}
        return {
            "names": list(keys | {normalize("NFD", key) for key in keys}),
            "paths": [path for paths in self.likely.values() for path in paths],
        }

    def among(self, rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
        """Yield the names that are found among the rows of `find_named`, each with its likeliest row."""
        for name, paths in self.likely.items():
            if (row := likeliest(name, paths, rows)) is not None:
                yield name, row


def likeliest(name: str, likely: Sequence[str], rows: Sequence[Row]) -> Row | None:
    same = [(composed_path(row["path"]), row) for row in rows if file_key(row["path"]) == file_key(name)]
    for path in likely:
        if row := next((row for own, row in same if own == path), None):
            return row
    ends = tuple(f"/{path}".casefold() for path in likely)
    found = [row for own, row in same if f"/{own}".casefold().endswith(ends)] or [row for _, row in same]
    return found[0] if found else None


def place_of(row: Row) -> AttachmentPlace:
    return AttachmentPlace(row["path"], row["media_type"], row["width"], row["height"])


async def read_attachment(database: Database, scope: Scope, path: str) -> AttachedFile:
    """Return an attachment of the scope's wiki with its bytes. Raises NotFound, FileMissing."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        row = await connection.one(ATTACHMENTS["find_file"], **scope.wiki_values, path=path)
    if row is None:
        raise NotFound(NO_FILE)
    data = await data_of(database, scope.wiki_values, row)
    return AttachedFile(row["path"], row["media_type"], row["hash"].hex(), data)
