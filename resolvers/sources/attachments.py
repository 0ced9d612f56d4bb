"""Attachments of a wiki: the files beside its notes, kept byte for byte by their paths, and found by their names."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from content.markdown.attachments import file_key, likely_paths, media_type, picture_size
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
    """A file to be kept: its path in the folder of notes, its SHA-256 and its bytes."""

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
    """Return those of these paths where the wiki has a file of this very hash already."""
    given: dict[str, Any] = {"paths": list(files), "hashes": list(files.values())}
    async with read_connection(database) as connection:
        return {row["path"] for row in await connection.all(ATTACHMENTS["find_same"], **wiki(scope), **given)}


async def keep_attachments(database: Database, scope: Scope, files: Sequence[AttachmentDraft]) -> int:
    """Keep these files in one transaction, each in place of what its path had. Return how many are new or changed.

    Raises Forbidden where the writes of this role are reviewed, since a file cannot be proposed.
    """
    kept, former = 0, set[bytes]()
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
            kept += row is not None
            former |= {row["former"]} if row and row["former"] else set()
        gone = await drop_unused_blobs(writer, former)
    await drop_files(database, scope, gone)
    return kept


async def drop_attachment(database: Database, scope: Scope, path: str, hash: bytes) -> bool:
    """Delete an attachment, if its file still has this hash; return whether it is gone by that."""
    async with writing(database, scope) as writer:
        await check_policy(writer)
        dropped = await writer.run(ATTACHMENTS["drop_file"], path=path, hash=hash)
        gone = await drop_unused_blobs(writer, {hash} if dropped else set())
    await drop_files(database, scope, gone)
    return bool(dropped)


async def check_policy(writer: Writer) -> None:
    rules = rules_of(await writer.value(ATTACHMENTS["find_policy"]) or ())
    review = writer.scope.review
    if review and review.reviewer:
        return
    if (review and review.terms) or policy_for(rules, writer.scope, None) is not Policy.OPEN:
        raise Forbidden(REVIEWED)


async def find_attachments(
    database: Database, scope: Scope, folder: str, names: Collection[str]
) -> dict[str, AttachmentPlace]:
    """Return the attachments that a text of a note in `folder` means by these names: the one beside the note, else the
    one whose path ends so, else the one that is called so and lies nearest to the top."""
    wanted = Wanted.of(folder, names)
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        rows = await connection.all(ATTACHMENTS["find_named"], **wiki(scope), **wanted.values)
    return {name: place_of(row) for name, row in wanted.among(rows)}


async def find_paths(writer: Writer, folder: str, names: Collection[str]) -> set[str]:
    """Return the paths of the attachments in the writer's wiki that a text of a note in `folder` means."""
    if not names:
        return set()
    wanted = Wanted.of(folder, names)
    rows = await writer.all(ATTACHMENTS["find_named"], **wanted.values)
    return {row["path"] for _, row in wanted.among(rows)}


class Wanted(NamedTuple):
    """Attachments as a text names them, each with the paths where it may lie, likeliest first."""

    likely: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, folder: str, names: Collection[str]) -> "Wanted":
        return cls({name: likely_paths(name, folder) for name in names})

    @property
    def values(self) -> dict[str, Any]:
        """Return what `find_named` asks for."""
        return {
            "names": list({file_key(name) for name in self.likely}),
            "paths": [path for paths in self.likely.values() for path in paths],
        }

    def among(self, rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
        """Yield the names that these rows answer to, with the likeliest row of each."""
        for name, paths in self.likely.items():
            if (row := likeliest(name, paths, rows)) is not None:
                yield name, row


def likeliest(name: str, likely: Sequence[str], rows: Sequence[Row]) -> Row | None:
    same = [row for row in rows if row["name"] == file_key(name)]
    for path in likely:
        if row := next((row for row in same if row["path"] == path), None):
            return row
    ends = [f"/{path}".casefold() for path in likely]
    return next((row for row in same if f"/{row['path']}".casefold().endswith(tuple(ends))), next(iter(same), None))


def place_of(row: Row) -> AttachmentPlace:
    return AttachmentPlace(row["path"], row["media_type"], row["width"], row["height"])


async def read_attachment(database: Database, scope: Scope, path: str) -> AttachedFile:
    """Return an attachment of the scope's wiki, byte for byte, to those who may read that."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        row = await connection.one(ATTACHMENTS["find_file"], **wiki(scope), path=path)
    if row is None:
        raise NotFound(NO_FILE)
    data = await data_of(database, wiki(scope), row)
    return AttachedFile(row["path"], row["media_type"], row["hash"].hex(), data)


def wiki(scope: Scope) -> dict[str, Any]:
    return {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
