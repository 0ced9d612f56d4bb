"""Read sources from a `.jsonl` file with a source on each line, or from a folder of texts with or without a header."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from content.notes.dates import date_of
from content.notes.frontmatter import BadFrontmatter, split_any
from content.notes.records import SourceRecord, source_from_record
from content.values import BadNote

from ..errors import BadInput
from ..sources.sources import SourceDraft
from .disk.temp_database import TempDatabase
from .formats import MARKDOWN, Survey
from .notes import LINES, NOTE_MAX, FolderStack, ImportProblem, Piece, data_of, in_folder, in_lines

DEFAULT_KIND = "document"
NO_TIME = datetime(1980, 1, 2, tzinfo=UTC)
"""Earlier modification times are no real ones: archives store 1970 or 1980-01-01 for files without a time."""
TEXTS = (*MARKDOWN, ".mdx", ".txt", ".wiki", ".mediawiki")
"""The endings of files that are sources: notes, posts, exported chats and pages of wikis."""


def source_files(root: Path) -> Iterator[SourceDraft | ImportProblem]:
    """Yield each source, or the problem why a file or line is none, in the order of their paths or lines.

    Raises BadInput if the path is neither a folder nor a `.jsonl` file.
    """
    if not root.exists():
        raise BadInput(f"There is no {root}. Give a {LINES} file of sources, or a folder of texts.", "path")
    if not root.is_dir() and root.suffix != LINES:
        raise BadInput(f"{root} is neither a folder of texts nor a {LINES} file.", "path")
    found = by_place(root) if root.is_dir() else in_lines(str(root))
    return (piece if isinstance(piece, ImportProblem) else read(piece) for piece in found)


def by_place(root: Path) -> list[Piece | ImportProblem]:
    with TempDatabase() as temp:
        return sorted(in_folder(root, FolderStack(temp), Survey(), TEXTS), key=place_of)


def place_of(piece: Piece | ImportProblem) -> str:
    return piece.path if isinstance(piece, ImportProblem) else piece.label


def read(piece: Piece) -> SourceDraft | ImportProblem:
    try:
        text = text_of(piece)
        record = source_from_record(from_line(text) if piece.is_line else from_text(piece, text))
    except (BadNote, BadFrontmatter) as error:
        return ImportProblem(piece.label, BadInput.code, str(error))
    except OSError as error:
        return ImportProblem(piece.label, "UNREADABLE", f"it cannot be read: {error.strerror or error}")
    draft = draft_of(record)
    if draft.captured_at is not None:
        return draft
    path = draft.ref if piece.is_line else piece.label
    dated = date_of(draft.metadata or {}, path, draft.content)
    return replace(draft, captured_at=dated if dated or piece.is_line else modified_at(piece))


def modified_at(piece: Piece) -> datetime | None:
    """Return when a file was last modified.

    Return None for a time in the future, and for the times that archives store for files without one.
    """
    try:
        modified = datetime.fromtimestamp(Path(piece.file).stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None
    return modified if NO_TIME < modified <= datetime.now(UTC) else None


def text_of(piece: Piece) -> str:
    if piece.size > NOTE_MAX:
        raise BadNote(f"it has {piece.size:,} bytes: at most {NOTE_MAX:,} are allowed")
    try:
        return data_of(piece).decode()
    except UnicodeDecodeError as error:
        raise BadNote(f"byte {error.start} is not UTF-8: save it as UTF-8") from None


def from_line(text: str) -> Any:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadNote(f"the line is not JSON: {error}") from None
    return value["source"] if isinstance(value, dict) and set(value) == {"source"} else value


def from_text(piece: Piece, text: str) -> dict[str, Any]:
    """Return the record of a text: the fields of its frontmatter, and by default its path as the ref."""
    values, content = split_any(text)
    given = {name: str(values.pop(name)) for name in ("kind", "ref", "title", "captured_at") if values.get(name)}
    metadata = values.pop("metadata", None)
    more = metadata if isinstance(metadata, dict) else {}
    return {"kind": DEFAULT_KIND, "ref": piece.label, **given, "content": content, "metadata": {**values, **more}}


def draft_of(record: SourceRecord) -> SourceDraft:
    return SourceDraft(
        record.kind, record.ref, record.content, record.title, record.captured_at, record.metadata, record.version
    )
