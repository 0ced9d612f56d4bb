"""The original files of imported pages, which are stored, and exported unchanged as long as their pages are unchanged.

A changed page is exported as a new file whose links lead to the same pages for the tool that made the folder. The facts
of a page that its file does not contain are a line of `.cairn/originals.jsonl`, so that an import of the export gives
the same wiki.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import isfile, join
from pathlib import Path
from posixpath import basename, dirname, relpath, splitext
from typing import Any
from urllib.parse import quote
from uuid import UUID

import orjson

from content.limits import TAGS
from content.markdown.links import WIKI, WrittenLink, match_links
from content.markdown.sections import parse, render
from content.names import normalise
from content.notes.logseq import file_page_name, journal_day, journal_title
from content.notes.note_texts import inline_tags, to_markdown, to_record
from content.notes.notes import Note, from_record
from db.connection import Row
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..model.drafts import PageDraft
from ..transactions.transaction import writing
from .citations import SourceIds
from .disk.paths import ORIGINALS
from .disk.paths import is_own as is_own_path
from .disk.staging import OriginalFile, Spool
from .disk.temp_database import TempDatabase, temp_statements
from .formats import Format, FormatReader, Survey
from .names import Vault, join_folders, path_parts
from .notes import NOTE_MAX, ImportProblem, NoteFile, data_of, in_lines
from .places import PlacedNote
from .relations import REASON, NoteWithPage
from .results import Problems

EXPORTS = statements("import_export/exports")
IMPORTS = statements("import_export/imports")
PATHS = temp_statements("paths")
LINE_BREAK = re.compile(r"\r?\n")
ADDRESS = "/wiki/"
ORIGIN = "imported_from"
EDIT_SUMMARY = "Imported"
ORIGINAL = "original"
BYTES_PER_BATCH = 2_000_000


# -- imported


def records(root: Path, problems: Problems) -> Iterator[tuple[str, bytes]]:
    """Yield the path of each file of an export with its line of `.cairn/originals.jsonl`."""
    file = join(root, ORIGINALS)
    if not isfile(file):
        return
    for piece in in_lines(file):
        line = data_of(piece) if piece.size <= NOTE_MAX else b""
        try:
            yield str(orjson.loads(line)["path"]), line
        except (orjson.JSONDecodeError, TypeError, KeyError):
            problems.append(ImportProblem(piece.label, "BAD_USER_INPUT", "the line is not {path, sha256, …}"))


def with_exported_facts(read: NoteFile | Note, line: bytes | None) -> tuple[Note, OriginalFile | None]:
    """Return the note of a file with the facts that an export recorded beside it, and its original file.

    If the file was changed since the export, its own facts take precedence. Raises BadNote.
    """
    if isinstance(read, Note):
        return split_original(read)
    if line is None:
        return read.note, OriginalFile(read.file, start_of(read))
    record = orjson.loads(line)
    facts = {name: record.pop(name, None) for name in ("path", "sha256", "format", "body_start")}
    format = Format(facts["format"]) if facts["format"] in list(Format) else Format.MARKDOWN
    start, body = facts["body_start"], record.get("body")
    note = from_record({"body": "", **record})
    if facts["sha256"] == hashlib.sha256(read.file).hexdigest():
        start = start if isinstance(start, int) and 0 <= start <= len(read.file) else start_of(read)
        if body is None:
            note = replace(note, body=read.file[start:].decode(errors="replace"))
        return note, OriginalFile(read.file, start, format, is_respelled=body is not None, says_all=True)
    if format in (Format.NOTION, Format.LOGSEQ):
        read = NoteFile(FormatReader(format, Survey()).note(facts["path"], read.file.decode()), read.file)
    updated = replace(
        read.note,
        slug=read.note.slug or note.slug,
        type=read.note.type or note.type,
        sources=read.note.sources or note.sources,
        former_slugs=read.note.former_slugs or note.former_slugs,
        superseded=read.note.superseded or note.superseded,
        contradictions=read.note.contradictions or note.contradictions,
    )
    return updated, OriginalFile(read.file, start_of(read), format)


def split_original(note: Note) -> tuple[Note, OriginalFile | None]:
    """Return the note of a line, and the original file of its page if the line has one."""
    original = note.metadata.get(ORIGINAL)
    if not isinstance(original, dict) or not isinstance(original.get("file"), str):
        return note, None
    file, start, format = original["file"].encode(), original.get("body_start"), original.get("format")
    original_file = OriginalFile(
        file,
        start if isinstance(start, int) and 0 <= start <= len(file) else None,
        Format(format) if format in list(Format) else Format.MARKDOWN,
        is_respelled=original.get("is_respelled") is True,
        says_all=True,
    )
    return replace(
        note, metadata={key: value for key, value in note.metadata.items() if key != ORIGINAL}
    ), original_file


def line_fields(exported: "Exported") -> dict[str, Any]:
    """Return the exported file of a page as a part of the record of a line."""
    kept = {name: value for name, value in exported.record.items() if name in ("format", "body_start")}
    return {ORIGINAL: {"file": exported.file.decode(), "is_respelled": "body" in exported.record} | kept}


def start_of(read: NoteFile) -> int | None:
    """Return the byte at which the body of a note begins in its file; None if the file does not end with the body."""
    body = read.note.body.encode()
    return len(read.file) - len(body) if read.file.endswith(body) else None


def draft(
    placed: PlacedNote, note: Note, original_file: OriginalFile | None, vault: Vault, sources: SourceIds
) -> PageDraft:
    """Return the draft of the page of a note. The page keeps the properties that the note lacks.

    The name of the file is an alias of the page, except in an export, which has all names of its pages.
    """
    says_all = has_all_facts(placed, original_file, vault)
    origin = {ORIGIN: placed.label} if has_original(placed, note, vault) else {}
    uncited = sources.uncited(note)
    return PageDraft(
        type=placed.type,
        title=note.title,
        slug=placed.slug,
        summary=note.summary,
        body=note.body if says_all else vault.body(placed, note.body),
        aliases=[name for name in (note.aliases if says_all else vault.names(placed, note)) if normalise(name)],
        tags=(note.tags if says_all or not placed.is_file else tags(note)) or None,
        metadata=note.metadata | origin | ({"sources": uncited} if uncited else {}),
        status="archived" if note.status == "archived" else None,
        edit_summary=EDIT_SUMMARY,
        alias_source=REASON,
        former_slugs=note.former_slugs,
        section_slugs=note.section_slugs,
        restored=True,
        replaces_metadata=vault.is_export,
    )


def has_all_facts(placed: PlacedNote, original_file: OriginalFile | None, vault: Vault) -> bool:
    """Return whether an export has all facts of a page: in the file itself, or beside a file that is unchanged."""
    return vault.is_export and (original_file is None or original_file.says_all or vault.record(placed.label) is None)


def has_original(placed: PlacedNote, note: Note, vault: Vault) -> bool:
    """Return whether a page has an original file. A file that an export has named after its page is not one."""
    if not placed.is_file:
        return False
    is_own = note.slug is not None and is_own_path(placed.label, placed.type, placed.slug)
    return not (vault.is_export and is_own) or vault.record(placed.label) is not None


def tags(note: Note) -> tuple[str, ...]:
    """Return the tags of the header, then the tags in the text."""
    told = {tag.casefold() for tag in note.tags}
    return (*note.tags, *(tag for tag in inline_tags(note.body) if tag.casefold() not in told))[: TAGS.maximum]


async def keep_originals(
    database: Database, scope: Scope, vault: Vault, spool: Spool, notes: Sequence[NoteWithPage]
) -> None:
    """Store the files of notes unchanged, with the hashes of their pages; files that are stored already stay."""
    page_ids = [note.page_id for note in notes]
    async with database.connection() as connection:
        rows = await connection.all(IMPORTS["find_file_hashes"], **scope.wiki_values, page_ids=page_ids)
    known = {(row["page_id"], row["file_hash"]) for row in rows}
    batch: list[tuple[NoteWithPage, OriginalFile, bool]] = []
    size = 0
    for note in notes:
        original_file = spool.take_original(note.placed.place)
        if original_file is None or (note.page_id, hashlib.sha256(original_file.file).hexdigest()) in known:
            continue
        if note.placed.is_file and not has_original(note.placed, note.note, vault):
            continue
        batch.append((note, original_file, original_file.says_all or has_all_facts(note.placed, original_file, vault)))
        size += len(original_file.file)
        if size > BYTES_PER_BATCH:
            await write_originals(database, scope, vault, batch)
            batch, size = [], 0
    if batch:
        await write_originals(database, scope, vault, batch)


async def write_originals(
    database: Database, scope: Scope, vault: Vault, kept: Sequence[tuple[NoteWithPage, OriginalFile, bool]]
) -> None:
    """Store files with the hashes of their pages. The flag of each file says whether its note has all of the page."""
    page_ids = [note.page_id for note, _, _ in kept]
    async with writing(database, scope) as writer:
        rows = await writer.all(EXPORTS["find_hashes"], page_ids=page_ids)
        hashes = {row["id"]: row for row in rows}
        stored = [file for file in kept if file[0].page_id in hashes]
        await writer.run(
            IMPORTS["write_originals"],
            page_ids=[note.page_id for note, _, _ in stored],
            files=[original_file.file for _, original_file, _ in stored],
            body_starts=[original_file.body_start for _, original_file, _ in stored],
            are_respelled=[is_respelled(vault, *file) for file in stored],
            formats=[original_file.format or vault.format for _, original_file, _ in stored],
            fields_hashes=[hashes[note.page_id]["fields_hash"] for note, _, _ in stored],
            body_hashes=[hashes[note.page_id]["body_hash"] for note, _, _ in stored],
        )


def is_respelled(vault: Vault, note: NoteWithPage, original_file: OriginalFile, says_all: bool) -> bool:
    """Return whether the links of the page are spelled otherwise than in the file."""
    if original_file.is_respelled is not None and says_all:
        return original_file.is_respelled
    return vault.body(note.placed, note.note.body) != note.note.body


# -- exported


class Files:
    """The paths of the files of an export, found by page, by address, or by the name in a link."""

    def __init__(self, temp: TempDatabase) -> None:
        """Use a temporary database in which `Paths` has made the tables."""
        self.temp = temp

    def add(self, page_id: UUID, address: str, path: str) -> None:
        *folders, name = path_parts(path)
        self.temp.put(
            PATHS["keep_file"],
            page_id=page_id.bytes, address=address, path=path, name=name, folder=join_folders(folders),
            depth=len(folders),
        )  # fmt: skip

    def of_page(self, page_id: UUID) -> str:
        (path,) = self.temp.first(PATHS["find_path"], page_id=page_id.bytes) or ("",)
        return str(path)

    def of_address(self, address: str) -> str | None:
        row = self.temp.first(PATHS["find_address"], address=address)
        return row[0] if row else None

    def find(self, name: str, here: str, format: Format) -> str | None:
        """Return the path that a name in a link of the file `here` means to the tool, or None."""
        if format is Format.LOGSEQ:
            name = name.replace("/", "___")
        *wanted, last = path_parts(name)
        folder, own = join_folders(wanted), join_folders(path_parts(here)[:-1])
        near = self.temp.first(PATHS["find_near"], name=last, folder=own) if own.endswith(folder) else None
        row = near or self.temp.first(PATHS["find_anywhere"], name=last, folder=folder)
        return row[0] if row else None


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file to be written: its path, the tool that reads it, and the pages that the links of its page lead to."""

    path: str
    format: Format
    files: Files
    targets: Mapping[str, UUID]

    def respell(self, body: str) -> str:
        """Return the text with links spelled so that the tool finds the same files; links that it finds stay."""
        parts, position = [], 0
        for link in match_links(body):
            page_id = self.targets.get(link.target.target)
            path = self.files.of_page(page_id) if page_id else ""
            if path and (spelled := self.link(body, link, path)):
                parts += [body[position : link.target.start], spelled]
                position = link.target.end
        return "".join(parts) + body[position:]

    def link(self, body: str, link: WrittenLink, path: str) -> str | None:
        """Return the link spelled as a link to the file at `path`, or None if it leads there as it is written."""
        target, anchor = link.target, f"#{link.target.anchor}" if link.target.anchor else ""
        if link.match.re is not WIKI:
            return f"[{target.text}]({self.url(path)}{body[link.match.end('name') : target.end]}"
        if self.format is Format.LOGSEQ and anchor.startswith("#^"):
            return f"(({anchor[2:]}))"
        if self.format is Format.NOTION:
            return f"[{target.text}]({self.url(path)}{anchor})"
        name = body[slice(*link.match.span("name"))].strip()
        if self.files.find(name, self.path, self.format) == path:
            return None
        shown = target.text.removesuffix(anchor) if anchor else target.text
        found = next(name for name in self.names(shown, path) if name)
        bar = "\\|" if (link.match["bar"] or "").startswith("\\") else "|"
        label = "" if target.text in (found, found + anchor) or link.match["embed"] else f"{bar}{target.text}"
        return f"{link.match['embed']}[[{found}{anchor}{label}]]"

    def names(self, shown: str, path: str) -> Iterator[str]:
        """Yield names by which a link finds the file, the best first; the last one, its whole path, always does."""
        whole = splitext(path)[0]
        names = [shown, basename(whole), whole]
        if self.format is Format.LOGSEQ:
            day = journal_day(path)
            whole = journal_title(day) if day else file_page_name(path)
            names = [shown, whole]
        for name in names:
            if not re.search(r"[\[\]|#\\]", name) and self.files.find(name, self.path, self.format) == path:
                yield name
        yield whole

    def url(self, path: str) -> str:
        return quote(relpath(path, dirname(self.path) or "."), safe="/()!'*,;@&=+$~")

    def address(self, name: str) -> str:
        """Return the address of a page as a link to its file, for a header; other names stay."""
        path = self.files.of_address(name) if name.startswith(ADDRESS) else None
        return f"[[{next(self.names('', path))}]]" if path else name

    def is_same(self, before: str, after: str) -> bool:
        """Return whether two texts differ only in the names by which their links refer to the same files."""
        old, new = match_links(before), match_links(after)
        if len(old) != len(new) or between(before, old) != between(after, new):
            return False
        return all(
            before[a.target.start : a.target.end] == after[b.target.start : b.target.end] or self.refers_to_same(a, b)
            for a, b in zip(old, new, strict=True)
        )

    def refers_to_same(self, old: WrittenLink, new: WrittenLink) -> bool:
        """Return whether two wiki links refer to the same file and anchor, and the old one has no text of its own."""
        if old.match.re is not WIKI or new.match.re is not WIKI or old.target.anchor != new.target.anchor:
            return False
        names = [splitext(link.match["name"])[0] for link in (old, new)]
        paths = {self.files.find(name, self.path, self.format) for name in names}
        return len(paths) == 1 and None not in paths and not old.match["bar"]


def between(text: str, links: Sequence[WrittenLink]) -> list[str]:
    ends = [0, *(link.target.end for link in links)]
    starts = [*(link.target.start for link in links), len(text)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


@dataclass(frozen=True, slots=True)
class Exported:
    """The file of a page that was imported from a file, and the record of the facts that the file lacks."""

    file: bytes
    record: dict[str, Any]


def export_file(note: Note, original: Row, now: Row, place: FilePlace) -> Exported:
    """Return the original file if its page is unchanged, else a new file; the header stays if only the text differs."""
    is_kept = original["fields_hash"] == now["fields_hash"]
    has_text = original["body_hash"] == now["body_hash"]
    record = to_record(note)
    file, start = original["file"], original["body_start"] if is_kept else None
    if not (is_kept and has_text):
        file = rewrite_file(note, original, place, keeps_header=is_kept)
    elif start is not None and not original["is_respelled"]:
        del record["body"]
    facts = {"path": place.path, "sha256": hashlib.sha256(file).hexdigest(), "format": place.format}
    return Exported(file, facts | ({} if start is None else {"body_start": start}) | record)


def rewrite_file(note: Note, original: Row, place: FilePlace, *, keeps_header: bool) -> bytes:
    """Return a new file for a changed page."""
    body, start = place.respell(note.body), original["body_start"]
    file: bytes = original["file"]
    if not keeps_header or start is None:
        links, parent = tuple(map(place.address, note.links)), note.parent and place.address(note.parent)
        return to_markdown(replace(note, body=body, reasons={}, links=links, parent=parent)).encode()
    before = file[start:].decode()
    if place.is_same(render(parse(before)), body):
        return file
    if "\r\n" in before:
        body = LINE_BREAK.sub("\r\n", body)
    end = before[len(before.rstrip()) :]
    return file[:start] + (body + end).encode()
