"""The files that pages were imported from: stored unchanged, and written out again while their pages are the same.

A page that was changed gets a new file, whose links mean the same for the tool that made the folder. What such files do
not say is in `.cairn/originals.jsonl`, a line each, so that an import of the export makes the very same wiki.
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
from .citations import SourceIds, wiki
from .disk.paths import ORIGINALS
from .disk.paths import is_own as is_own_path
from .disk.staging import OriginalFile, Spool
from .disk.temp_database import TempDatabase, temp_statements
from .formats import Format, FormatReader, Survey
from .names import Vault, join_folders, words
from .notes import NOTE_MAX, ImportProblem, NoteFile, data_of, in_lines
from .pages import Placed
from .relations import REASON, Written
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
    """Yield the path of each file of an export with the line that says more of it."""
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
    """The note of a file with what an export says of it besides, which counts while nobody has changed the file.

    Raises BadNote.
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
    """The note of a line, and the file that its page once came from, if the line has it."""
    original = note.metadata.get(ORIGINAL)
    if not isinstance(original, dict) or not isinstance(original.get("file"), str):
        return note, None
    file, start, format = original["file"].encode(), original.get("body_start"), original.get("format")
    given = OriginalFile(
        file,
        start if isinstance(start, int) and 0 <= start <= len(file) else None,
        Format(format) if format in list(Format) else Format.MARKDOWN,
        is_respelled=original.get("is_respelled") is True,
        says_all=True,
    )
    return replace(note, metadata={key: value for key, value in note.metadata.items() if key != ORIGINAL}), given


def in_line(exported: "Exported") -> dict[str, Any]:
    """The file of a page as its line holds it."""
    kept = {name: value for name, value in exported.record.items() if name in ("format", "body_start")}
    return {ORIGINAL: {"file": exported.file.decode(), "is_respelled": "body" in exported.record} | kept}


def start_of(read: NoteFile) -> int | None:
    """The byte of a file with which its text begins."""
    body = read.note.body.encode()
    return len(read.file) - len(body) if read.file.endswith(body) else None


def draft(placed: Placed, note: Note, given: OriginalFile | None, vault: Vault, sources: SourceIds) -> PageDraft:
    """The page that a note asks for. What the note does not have stays as it is on the page.

    An export has told every name of its pages, in their files or beside them; of other files the name is one too.
    """
    says_all = says_all_of(placed, given, vault)
    origin = {ORIGIN: placed.label} if has_origin(placed, note, vault) else {}
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
    )


def says_all_of(placed: Placed, given: OriginalFile | None, vault: Vault) -> bool:
    """Return whether an export says all of a page: in a file of its own, or beside one that is unchanged since."""
    return vault.is_export and (given is None or given.says_all or vault.record(placed.label) is None)


def has_origin(placed: Placed, note: Note, vault: Vault) -> bool:
    """Return whether a page came from a file. One that an export named after its page is not its origin."""
    if not placed.is_file:
        return False
    is_own = note.slug is not None and is_own_path(placed.label, placed.type, placed.slug)
    return not (vault.is_export and is_own) or vault.record(placed.label) is not None


def tags(note: Note) -> tuple[str, ...]:
    """Return the tags of the header, then those that stand in the text."""
    told = {tag.casefold() for tag in note.tags}
    return (*note.tags, *(tag for tag in inline_tags(note.body) if tag.casefold() not in told))[: TAGS.most]


async def keep_originals(
    database: Database, scope: Scope, vault: Vault, spool: Spool, notes: Sequence[Written]
) -> None:
    """Store the files of notes unchanged, with what their pages are now; those that are kept already stay."""
    page_ids = [note.page_id for note in notes]
    async with database.connection() as connection:
        rows = await connection.all(IMPORTS["find_file_hashes"], **wiki(scope), page_ids=page_ids)
    known = {(row["page_id"], row["file_hash"]) for row in rows}
    some: list[tuple[Written, OriginalFile, bool]] = []
    size = 0
    for note in notes:
        given = spool.take_given(note.placed.place)
        if given is None or (note.page_id, hashlib.sha256(given.file).hexdigest()) in known:
            continue
        if note.placed.is_file and not has_origin(note.placed, note.note, vault):
            continue
        some.append((note, given, given.says_all or says_all_of(note.placed, given, vault)))
        size += len(given.file)
        if size > BYTES_PER_BATCH:
            await write_originals(database, scope, vault, some)
            some, size = [], 0
    if some:
        await write_originals(database, scope, vault, some)


async def write_originals(
    database: Database, scope: Scope, vault: Vault, kept: Sequence[tuple[Written, OriginalFile, bool]]
) -> None:
    """Store files with what their pages are now, and whether the note of each says all of its page."""
    page_ids = [note.page_id for note, _, _ in kept]
    async with writing(database, scope) as writer:
        rows = await writer.all(EXPORTS["find_hashes"], page_ids=page_ids)
        hashes = {row["id"]: row for row in rows}
        there = [one for one in kept if one[0].page_id in hashes]
        await writer.run(
            IMPORTS["write_originals"],
            page_ids=[note.page_id for note, _, _ in there],
            files=[given.file for _, given, _ in there],
            body_starts=[given.body_start for _, given, _ in there],
            are_respelled=[is_respelled(vault, *one) for one in there],
            formats=[given.format or vault.format for _, given, _ in there],
            fields_hashes=[hashes[note.page_id]["fields_hash"] for note, _, _ in there],
            body_hashes=[hashes[note.page_id]["body_hash"] for note, _, _ in there],
        )


def is_respelled(vault: Vault, note: Written, given: OriginalFile, says_all: bool) -> bool:
    """Return whether the text of the page has other links than the file."""
    if given.is_respelled is not None and says_all:
        return given.is_respelled
    return vault.body(note.placed, note.note.body) != note.note.body


# -- exported


class Files:
    """The places of an export's files: found by page, and by what a link in one of them says."""

    def __init__(self, temp: TempDatabase) -> None:
        """The tables are those of `Paths`."""
        self.temp = temp

    def add(self, page_id: UUID, address: str, path: str) -> None:
        *folders, name = words(path)
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
        """The file that a name means in a link of a file, as the tool looks for it."""
        if format is Format.LOGSEQ:
            name = name.replace("/", "___")
        *wanted, last = words(name)
        folder, own = join_folders(wanted), join_folders(words(here)[:-1])
        near = self.temp.first(PATHS["find_near"], name=last, folder=own) if own.endswith(folder) else None
        row = near or self.temp.first(PATHS["find_anywhere"], name=last, folder=folder)
        return row[0] if row else None


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file that is written: where it lies, the tool that reads it, and what the links of its page mean."""

    path: str
    format: Format
    files: Files
    targets: Mapping[str, UUID]

    def respell(self, body: str) -> str:
        """The text of a page with links as the tool reads them; those that it would read rightly stay."""
        parts, position = [], 0
        for link in match_links(body):
            page_id = self.targets.get(link.target.target)
            path = self.files.of_page(page_id) if page_id else ""
            if path and (spelled := self.link(body, link, path)):
                parts += [body[position : link.target.start], spelled]
                position = link.target.end
        return "".join(parts) + body[position:]

    def link(self, body: str, link: WrittenLink, path: str) -> str | None:
        """A link to that file; None where it is one as it is written."""
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
        found = next(one for one in self.names(shown, path) if one)
        bar = "\\|" if (link.match["bar"] or "").startswith("\\") else "|"
        label = "" if target.text in (found, found + anchor) or link.match["embed"] else f"{bar}{target.text}"
        return f"{link.match['embed']}[[{found}{anchor}{label}]]"

    def names(self, shown: str, path: str) -> Iterator[str]:
        """Yield what a link may say to mean the file, the best first; the last one always does."""
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
        """A page in a header, by the name of its file."""
        path = self.files.of_address(name) if name.startswith(ADDRESS) else None
        return f"[[{next(self.names('', path))}]]" if path else name

    def is_same(self, before: str, after: str) -> bool:
        """Return whether two texts differ only in the names by which links call the same files."""
        old, new = match_links(before), match_links(after)
        if len(old) != len(new) or between(before, old) != between(after, new):
            return False
        return all(
            before[a.target.start : a.target.end] == after[b.target.start : b.target.end] or self.means_same(a, b)
            for a, b in zip(old, new, strict=True)
        )

    def means_same(self, old: WrittenLink, new: WrittenLink) -> bool:
        """Return whether two links mean the same. The shown text may differ where it is the name alone."""
        if old.match.re is not WIKI or new.match.re is not WIKI or old.target.anchor != new.target.anchor:
            return False
        names = [splitext(one.match["name"])[0] for one in (old, new)]
        paths = {self.files.find(name, self.path, self.format) for name in names}
        return len(paths) == 1 and None not in paths and not old.match["bar"]


def between(text: str, links: Sequence[WrittenLink]) -> list[str]:
    ends = [0, *(link.target.end for link in links)]
    starts = [*(link.target.start for link in links), len(text)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


@dataclass(frozen=True, slots=True)
class Exported:
    """The file of a page that came from one, and what it does not say."""

    file: bytes
    record: dict[str, Any]


def export_file(note: Note, original: Row, now: Row, place: FilePlace) -> Exported:
    """The original file, if its page is what it was; else with its header, if only the text has changed."""
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
    """The file of a page that was changed."""
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
