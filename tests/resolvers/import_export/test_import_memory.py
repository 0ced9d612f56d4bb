"""An import of many files takes no more memory than one of few files."""

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from resolvers.import_export import results
from resolvers.import_export.disk.staging import NoteList
from resolvers.import_export.disk.temp_database import TempDatabase
from resolvers.import_export.export_files import export_path
from resolvers.import_export.notes import FolderStack, pieces
from resolvers.import_export.results import Problems
from resolvers.pages.lifecycle import update_page
from tests.resolvers.import_export.vaults import import_counts, run_import, write_files
from tests.wiki import Wiki

MANY = 4_000


def flat(root: Path, number: int) -> Path:
    return root / f"note-{number}.md"


def in_folders(root: Path, number: int) -> Path:
    return root / f"folder-{number}" / "note.md"


def histories(root: Path, number: int) -> Path:
    return root / ".cairn" / "history" / "topic" / f"page-{number}.jsonl"


@pytest.mark.parametrize("place", [flat, in_folders, histories])
def test_the_list_of_files_to_read_is_stored_on_disk(tmp_path: Path, place: Callable[[Path, int], Path]) -> None:
    """A list in memory would take more than a hundred bytes for each file."""
    for number in range(MANY):
        path = place(tmp_path, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    assert peak_memory(tmp_path) < 50 * MANY


def peak_memory(root: Path) -> int:
    """Return the most bytes of memory that listing the files of a folder takes."""
    with TempDatabase() as temp:
        notes, problems, waiting = NoteList(temp), Problems(), FolderStack(temp)
        tracemalloc.start()
        try:
            notes.fill(pieces(root, waiting), problems)
            assert sum(map(len, notes.batches(10, 1_000))) == MANY
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


async def test_names_of_notes_are_not_interned_by_the_interpreter(
    wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interning would add the names to the interpreter's table of strings, which is rebuilt when it grows and
    shrinks."""
    write_files(
        tmp_path / "notes", {"apart/unheard-of.md": "---\nparent: '[[apart/unmet]]'\n---\n", "apart/unmet.md": ""}
    )
    with ZipFile(tmp_path / "notes.zip", "w") as zip:
        zip.write(tmp_path / "notes/apart/unheard-of.md", "apart/unheard-of.md")
    interned: list[str] = []
    monkeypatch.setattr(sys, "intern", lambda text: interned.append(text) or text)
    for form in ("notes", "notes.zip"):
        assert (await run_import(wiki, tmp_path / form)).errors == ()
    for form in ("out", "out", "out.zip", "out.jsonl"):
        await export_path(wiki.database, wiki.scope, tmp_path / form, history=True)
        assert (await run_import(wiki, tmp_path / form)).errors == ()
    await update_page(wiki.database, wiki.scope, (await wiki.rows("pages"))[0]["id"], slug="unknown")
    await export_path(wiki.database, wiki.scope, tmp_path / "out", history=True)
    assert interned
    assert [text for text in interned if text.startswith(("un", "apart"))] == []


def test_histories_are_read_after_sources_and_mentions_in_name_order(tmp_path: Path) -> None:
    """The order in which the file system lists the files does not matter."""
    wanted = [
        ".cairn/sources.jsonl",
        ".cairn/mentions.jsonl",
        *(f".cairn/history/{n}.jsonl" for n in ("a/b", "a/c", "b/a")),
    ]
    write_files(tmp_path, dict.fromkeys([*reversed(wanted), "b.md", "a/c.md"], "{}\n{}\n"))
    with TempDatabase() as temp:
        notes = NoteList(temp)
        notes.fill(pieces(tmp_path, FolderStack(temp)), Problems())
        read_order = [
            Path(piece.file).relative_to(tmp_path).as_posix() for batch in notes.batches(2, 1_000) for piece in batch
        ]
    assert read_order == [*(name for name in wanted for _ in range(2)), "a/c.md", "b.md"]


async def test_all_errors_are_counted_and_the_first_ones_reported(
    wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "LISTED_MAX", 5)
    write_files(tmp_path, {"good.md": "Good."} | {f"{n}.md": b"\xff" for n in range(8)})
    for n in range(8):
        (tmp_path / f"link-{n}.md").symlink_to("/etc/passwd")
    result = await run_import(wiki, tmp_path)
    assert import_counts(result) == (1, 0, 0, 16)
    assert len(result.errors) == 5
