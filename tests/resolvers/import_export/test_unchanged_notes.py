"""Notes whose pages were not changed are exported byte for byte as they were imported."""

import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolvers.import_export.export_files import export_path
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.lifecycle import archive_page, create_page, update_page
from resolvers.pages.renaming import rename_page
from tests.content.notes.test_vault import VAULT
from tests.resolvers.import_export.exports import export_files, read_files
from tests.resolvers.import_export.vaults import import_counts, import_files, pages_by_path, run_import, write_files
from tests.wiki import Wiki, check_derived_rows

NOTES = {
    "Sync/Security.md": "---\ntags:   [b,  'a']\nx: \"1.10\"\n---\n# Security\n\n\nOf *sync*.  \n\n\n\n* one\n",
    "Publish/Security.md": "Of publishing.",
    "Sync/Use.md": "See [[Security]], [[Publish/Security|the other]], [[Security#Of|part]], ![[Security]].\n\n"
    "| a |\n|-|\n| [[Publish/Security\\|b]] |\n",
    "windows.md": "\ufeff---\r\ntitle: 'Windows'\r\n---\r\n\r\nTo [Use](Sync/Use.md), [[Use]].\r\n\r\nEnd.\r\n",
    "Café/ö.md": 'To [[windows|W]] and [it](../windows.md#End "title") and `[[Use]]`.\n',
    "empty.md": "",
}


async def changed_files(wiki: Wiki, folder: Path, before: dict[str, bytes]) -> dict[str, str]:
    """Return the files of an export that differ from the imported ones."""
    after = {path: data for path, data in (await export_files(wiki, folder)).items() if not path.startswith(".cairn")}
    assert set(after) == set(before)
    return {path: data.decode() for path, data in after.items() if data != before[path]}


async def import_vault(wiki: Wiki, folder: Path) -> dict[str, bytes]:
    assert (await import_files(wiki, folder, NOTES)).errors == ()
    return read_files(folder)


async def test_files_of_unchanged_pages_are_exported_byte_for_byte(wiki: Wiki, tmp_path: Path) -> None:
    before = await import_vault(wiki, tmp_path / "notes")
    assert await changed_files(wiki, tmp_path / "out", before) == {}
    await export_path(wiki.database, wiki.scope, tmp_path / "out.zip")
    with ZipFile(tmp_path / "out.zip") as zip:
        assert {path: zip.read(path) for path in before} == before


async def test_importing_an_export_gives_the_same_wiki(wiki: Wiki, tmp_path: Path) -> None:
    await import_vault(wiki, tmp_path / "notes")
    pages = await pages_by_path(wiki)
    await update_page(wiki.database, wiki.scope, pages["windows.md"]["id"], body="To [[security]], [[Use]].")
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Security", body="Mine: [[windows]]."))
    first = await export_files(wiki, tmp_path / "first")
    for form in ("folder", "wiki.zip"):
        await export_path(wiki.database, wiki.scope, tmp_path / form)
        copy = await wiki.neighbour()
        assert (await run_import(copy, tmp_path / form)).errors == ()
        assert await export_files(copy, tmp_path / f"second-{form}") == first
        await check_derived_rows(copy)
        assert import_counts(await run_import(copy, tmp_path / form)) == (0, 0, 7, 0)


async def test_a_changed_page_changes_one_file_and_keeps_its_header(wiki: Wiki, tmp_path: Path) -> None:
    before = await import_vault(wiki, tmp_path / "notes")
    page = (await pages_by_path(wiki))["Sync/Use.md"]
    body = page["body_md"] + "\n\nSee [[Windows]]."
    await update_page(wiki.database, wiki.scope, page["id"], body=body)
    found = await changed_files(wiki, tmp_path / "out", before)
    assert found == {"Sync/Use.md": NOTES["Sync/Use.md"] + "\nSee [[Windows]].\n"}, "links as they were written"
    await update_page(wiki.database, wiki.scope, page["id"], body=page["body_md"])
    assert await changed_files(wiki, tmp_path / "out", before) == {}, "a reverted change is no change"
    page = (await pages_by_path(wiki))["Sync/Security.md"]
    await update_page(wiki.database, wiki.scope, page["id"], body="Changed.")
    header = NOTES["Sync/Security.md"].partition("Of")[0]
    assert await changed_files(wiki, tmp_path / "out", before) == {"Sync/Security.md": f"{header}Changed.\n"}


async def test_a_changed_file_keeps_its_line_endings(wiki: Wiki, tmp_path: Path) -> None:
    before = await import_vault(wiki, tmp_path / "notes")
    page = (await pages_by_path(wiki))["windows.md"]
    await update_page(wiki.database, wiki.scope, page["id"], body=page["body_md"].replace("End.", "The\n\nend."))
    (file,) = (await changed_files(wiki, tmp_path / "out", before)).values()
    assert file == NOTES["windows.md"].replace("End.", "The\r\n\r\nend.")


async def test_a_rename_changes_only_the_file_of_its_page(wiki: Wiki, tmp_path: Path) -> None:
    before = await import_vault(wiki, tmp_path / "notes")
    pages = await pages_by_path(wiki)
    await rename_page(wiki.database, wiki.scope, pages["windows.md"]["id"], title="Panes", slug="panes")
    assert "[[panes|W]] and [it](wiki:panes#End" in (await pages_by_path(wiki))["Café/ö.md"]["body_md"]
    found = await changed_files(wiki, tmp_path / "out", before)
    assert set(found) == {"windows.md"}, "links to the file are right as they are"
    assert found["windows.md"].startswith("---\ntitle: Panes\n")
    await update_page(wiki.database, wiki.scope, pages["Café/ö.md"]["id"], body="To [[Panes]] and [it](wiki:panes).")
    found = await changed_files(wiki, tmp_path / "out", before)
    assert found["Café/ö.md"] == "To [[windows|Panes]] and [it](../windows.md).\n"


async def test_changed_page_fields_are_exported_to_the_file(wiki: Wiki, tmp_path: Path) -> None:
    before = await import_vault(wiki, tmp_path / "notes")
    where = wiki.database, wiki.scope
    pages = await pages_by_path(wiki)
    await add_alias(*where, pages["empty.md"]["id"], name="Nothing")
    await archive_page(*where, pages["Publish/Security.md"]["id"])
    await link_pages(*where, pages["Sync/Use.md"]["id"], pages["windows.md"]["id"])
    found = await changed_files(wiki, tmp_path / "out", before)
    assert set(found) == {"empty.md", "Publish/Security.md", "Sync/Use.md"}
    assert "aliases:\n  - Nothing\n" in found["empty.md"]
    assert "archived: true\n" in found["Publish/Security.md"]
    assert 'related:\n  - "[[windows]]"\n' in found["Sync/Use.md"]


async def test_links_of_the_planner_change_no_file(wiki: Wiki, tmp_path: Path) -> None:
    before = await import_vault(wiki, tmp_path / "notes")
    pages = await pages_by_path(wiki)
    await link_pages(wiki.database, wiki.scope, pages["Sync/Use.md"]["id"], pages["windows.md"]["id"], reason="planner")
    assert await changed_files(wiki, tmp_path / "out", before) == {}


async def test_a_file_edited_in_an_export_is_read_in_the_format_of_its_tool(wiki: Wiki, tmp_path: Path) -> None:
    await import_vault(wiki, tmp_path / "notes")
    await export_files(wiki, tmp_path / "out")
    copy = await wiki.neighbour()
    await run_import(copy, tmp_path / "out")
    write_files(tmp_path / "out", {"Publish/Security.md": "To [[Use]] and [[Sync/Security]]."})
    assert import_counts(await run_import(copy, tmp_path / "out")) == (0, 1, 5, 0)
    pages = await pages_by_path(copy)
    names = {page["id"]: path for path, page in pages.items()}
    linked = {names[end] for start, end in await copy.references() if names[start] == "Publish/Security.md"}
    assert linked == {"Sync/Use.md", "Sync/Security.md"}
    assert (await export_files(copy, tmp_path / "out"))["Publish/Security.md"] == b"To [[Use]] and [[Sync/Security]]."


LINES = [
    "# Head",
    "## Two",
    "",
    "  ",
    "* a",
    "- [ ] b",
    "[[b]]",
    "[[x/b|B]]",
    "[b](x/b.md)",
    "```",
    "[[b]]`",
    "***",
]
HEADERS = ["", "---\n---\n", "---\ntags: [ x,y ]\n# why\n---\n\n\n", "\ufeff", "---\ntitle: 'A'\n...\n# A\n"]
TEXTS = st.builds(
    lambda header, lines, end, last: (header.replace("\n", end) + end.join(lines) + last),
    st.sampled_from(HEADERS), st.lists(st.sampled_from(LINES)), st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\n\n\n", " "]),
)  # fmt: skip


@given(texts=st.lists(TEXTS, min_size=20, max_size=20))
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_text_is_exported_byte_for_byte(wiki: Wiki, texts: list[str]) -> None:
    paths = ["b.md", "x/b.md", "x/y/b.md", *(f"x/{n}.md" for n in range(17))]
    with TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        result = await import_files(await wiki.neighbour(), notes, dict(zip(paths, texts, strict=True)))
        assert result.errors == ()
        other = await wiki.neighbour()
        await run_import(other, notes)
        before = read_files(notes)
        assert await changed_files(other, Path(folder) / "out", before) == {}
        copy = await wiki.neighbour()
        assert (await run_import(copy, Path(folder) / "out")).errors == ()
        assert await export_files(copy, Path(folder) / "again") == read_files(Path(folder) / "out")


@pytest.mark.skipif(not VAULT.is_dir(), reason="the vault of Obsidian's documentation is not here")
async def test_a_real_vault_is_exported_byte_for_byte(wiki: Wiki, tmp_path: Path) -> None:
    before = {path: data for path, data in read_files(VAULT).items() if path.endswith(".md")}
    await run_import(wiki, VAULT)
    assert await changed_files(wiki, tmp_path / "out", before) == {}
    page = (await pages_by_path(wiki))["Obsidian Sync/Headless Sync.md"]
    assert "[[security-and-privacy-obsidian-sync|" in page["body_md"]
    await update_page(wiki.database, wiki.scope, page["id"], body=page["body_md"] + "\n\nOne more.")
    ((path, text),) = (await changed_files(wiki, tmp_path / "out", before)).items()
    assert path == "Obsidian Sync/Headless Sync.md"
    assert "security-and-privacy" not in text
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / "out")).errors == ()
    assert read_files(tmp_path / "out") == await export_files(copy, tmp_path / "again")


async def test_an_export_is_whole_on_a_disk_that_decomposes_letters(wiki: Wiki, tmp_path: Path) -> None:
    """As HFS+ does, and programs that make a zip on macOS."""
    await run_import(wiki, write_files(tmp_path / "in", {"Café/ö.md": "---\nkey: 1\n---\nHot.\n"}))
    first = await export_files(wiki, tmp_path / "out")
    moved = {unicodedata.normalize("NFD", path): data for path, data in first.items()}
    copy = await wiki.neighbour()
    assert (await run_import(copy, write_files(tmp_path / "moved", moved))).errors == ()
    again = await export_files(copy, tmp_path / "again")
    records = [unicodedata.normalize("NFC", files[".cairn/originals.jsonl"].decode()) for files in (first, again)]
    assert records[0] == records[1]
