"""Import and export of attachments, which keep their paths in the folder."""

import asyncio
import os
import stat
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Sequence
from hashlib import sha256
from typing import Any

from content.limits import ATTACHMENT
from content.markdown.attachments import composed_path
from db.connection import Connection
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..errors import BadInput, Forbidden, LimitExceeded
from ..sources.attachments import AttachmentDraft, find_same, keep_attachments
from ..sources.blob_files import FileMissing, data_of
from .disk.paths import is_safe_attachment
from .formats import Survey
from .notes import ImportProblem
from .results import Problems

ATTACHMENTS = statements("import_export/attachments")
FILES_PER_BATCH = 50
BYTES_PER_BATCH = 8_000_000
PATHS_PER_BATCH = 500


async def keep_files(database: Database, scope: Scope, survey: Survey, warnings: Problems) -> int:
    """Store the attachments of a folder and return how many are new or changed; refused files become warnings."""
    return sum([await keep(database, scope, batch, warnings) async for batch in in_thread(batches(survey, warnings))])


async def keep(database: Database, scope: Scope, files: Sequence[AttachmentDraft], warnings: Problems) -> int:
    """Store attachments that the wiki lacks and return how many; if the caller may not, each file becomes a warning."""
    same = await find_same(database, scope, {file.path: file.hash for file in files})
    wanted = [file for file in files if file.path not in same]
    try:
        return await keep_attachments(database, scope, wanted) if wanted else 0
    except Forbidden as error:
        warnings.extend(ImportProblem(file.path, error.code, error.message) for file in wanted)
        return 0


async def in_thread(batches: Iterator[list[AttachmentDraft]]) -> AsyncIterator[list[AttachmentDraft]]:
    while batch := await asyncio.to_thread(next, batches, None):
        yield batch


def batches(survey: Survey, warnings: Problems) -> Iterator[list[AttachmentDraft]]:
    """Yield the files that can be stored, in batches that fit into memory."""
    batch: list[AttachmentDraft] = []
    size = 0
    for path in sorted(survey.attachments):
        file = read_file(path, survey.attachments[path])
        if isinstance(file, ImportProblem):
            survey.leave(path)
            warnings.append(file)
            continue
        if batch and (len(batch) == FILES_PER_BATCH or size + len(file.data) > BYTES_PER_BATCH):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += len(file.data)
    if batch:
        yield batch


def read_file(path: str, file: str) -> AttachmentDraft | ImportProblem:
    """Read a file, or return the problem why it is skipped. Symbolic links are not followed: they may lead anywhere."""
    if not is_safe_attachment(path):
        return ImportProblem(path, BadInput.code, "its path is not the same on every system: rename the file")
    try:
        there = os.lstat(file)
        if not stat.S_ISREG(there.st_mode):
            return ImportProblem(path, BadInput.code, "this is a link, or no file: copy what it means")
        with open(file, "rb") as data:
            return draft(path, data.read(ATTACHMENT.maximum + 1))
    except OSError as error:
        return ImportProblem(path, "UNREADABLE", f"it cannot be read: {error.strerror or error}")


def draft(path: str, data: bytes) -> AttachmentDraft | ImportProblem:
    """Return the draft of an attachment, or the problem why it cannot be stored."""
    if not is_safe_attachment(path):
        return ImportProblem(path, BadInput.code, "this is no path of an attachment")
    if not 0 < len(data) <= ATTACHMENT.maximum:
        message = (
            f"it is empty, or has more than {ATTACHMENT.maximum:,} bytes, which is the most that is kept of one file"
        )
        return ImportProblem(path, LimitExceeded.code, message)
    return AttachmentDraft(composed_path(path), sha256(data).digest(), data)


async def exported_files(
    database: Database, connection: Connection, wiki: dict[str, Any]
) -> AsyncIterator[AttachmentDraft | ImportProblem]:
    """Yield the attachments of a wiki, in the order of their paths, one in memory at a time.

    A problem stands for an attachment whose file is missing from the folder of attachments.
    """
    after = ""
    while rows := await connection.all(ATTACHMENTS["list_paths"], **wiki, after_path=after, size=PATHS_PER_BATCH):
        for row in rows:
            file = await connection.one(ATTACHMENTS["find_file"], **wiki, path=row["path"])
            if file is None or not is_safe_attachment(row["path"]):
                continue
            try:
                data = await data_of(database, wiki, file)
            except FileMissing as error:
                yield ImportProblem(row["path"], error.code, error.message)
            else:
                yield AttachmentDraft(row["path"], bytes(file["hash"]), data)
        after = rows[-1]["path"]


def record_of(file: AttachmentDraft) -> dict[str, Any]:
    """Return an attachment as the record of a line."""
    return {"path": file.path, "sha256": file.hash.hex(), "data": b64encode(file.data).decode()}
