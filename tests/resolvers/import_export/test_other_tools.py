"""Folders of other tools: recognised by their content, read as the tool reads them, and exported unchanged."""

import unicodedata
from pathlib import Path
from zipfile import ZipFile

import pytest

from resolvers.import_export.export_files import export_folder
from resolvers.import_export.formats import Format
from resolvers.import_export.importing import import_path
from resolvers.import_export.results import ImportResult
from resolvers.pages.lifecycle import update_page
from tests.resolvers.import_export.exports import read_files
from tests.resolvers.import_export.vaults import import_files, pages_by_path, run_import, write_files
from tests.wiki import Wiki, check_derived_rows

A, B, C, D, E, F = (letter * 8 + "0123456789abcdef01234567" for letter in "abcdef")
LONG = "A page whose title is longer than the fifty characters of a file name"
CUT = LONG[:50].strip()
CAFE = unicodedata.normalize("NFD", "Café Zürich")
NOTION = {
    f"Home {A}.md": f"# Home\n\n[Recipes](Home%20{A}/Recipes%20{B}.md) and "
    f"[{LONG}](Home%20{A}/{CUT.replace(' ', '%20')}%20{C}.md)\n\n![Picture](Home%20{A}/oven.png)\n\n"
    f"[The web](https://example.org/x.md), [again](https://www.notion.so/Recipes-{B}?pvs=4)\n",
    f"Home {A}/Recipes {B}.md": f"# Recipes\n\nSee [home](../Home%20{A}.md) and `[home](../Home%20{A}.md)`.\n",
    f"Home {A}/{CUT} {C}.md": f"# {LONG}\n\n[Zürich](Caf%C3%A9%20Z%C3%BCrich%20{E}.md)\n",
    f"Home {A}/Recipes {D}.md": "# Recipes\n\nThe others.\n",
    f"Home {A}/{CAFE} {E}.md": "# Café Zürich\n\nIn NFD.\n",
    f"Home {A}/🍞 {F}.md": "# 🍞\n\nBread.\n",
    f"Home {A}/Tasks {B[::-1]}.csv": "\ufeffName,Status,Tags\nBake,Done,\"a, b\"\n",
    f"Home {A}/Tasks {B[::-1]}_all.csv": "\ufeffName,Status,Tags\nBake,Done,\"a, b\"\n",
    f"Home {A}/Tasks/Bake {D[::-1]}.md": "# Bake\n\nStatus: Done\nTags: a, b\n\nNote: text that is no property.\n",
    f"Home {A}/oven.png": b"\x89PNG",
}  # fmt: skip
BLOCK = "64a0b1c2-aaaa-bbbb-cccc-0123456789ab"
LOGSEQ = {
    "logseq/config.edn": "{:meta/version 1}",
    "logseq/bak/pages/Food/old.md": "- An old one\n",
    "pages/Food.md": "icon:: x\n\n- All of it, see ((" + BLOCK + ")) and ((00000000-0000-0000-0000-000000000000))\n",
    "pages/Food___Bread.md": "alias:: Loaf, [[Brot]]\ntype:: concept\ntags:: [[baking]], slow food\n\n- Rye [[Food]]\n",
    "pages/Drink___Bread.md": "- Kvass, of [[Food/Bread]] and [[Drink]]\n",
    "pages/Project%3A X.md": "title:: Project: X\n\n- On [[Jan 31st, 2026]] #[[deep work]] #soon\n",
    "journals/2026_01_31.md": "- Ate [[loaf]]\n  - Warm, with [butter]\n    id:: " + BLOCK + "\n",
    "assets/oven.png": b"\x89PNG",
    "whiteboards/plan.edn": "{}",
}


async def links(wiki: Wiki) -> dict[str, set[str]]:
    slugs = {row["id"]: row["slug"] for row in await wiki.rows("pages")}
    found: dict[str, set[str]] = {}
    for start, end in await wiki.references():
        found.setdefault(slugs[start], set()).add(slugs[end])
    return found


async def parents(wiki: Wiki) -> dict[str, str]:
    slugs = {row["id"]: row["slug"] for row in await wiki.rows("pages")}
    return {row["slug"]: slugs[row["parent_page_id"]] for row in await wiki.rows("pages") if row["parent_page_id"]}


async def assert_export_is_unchanged(wiki: Wiki, folder: Path, imported_files: dict[str, str | bytes]) -> None:
    """Check that the export has the notes and pictures unchanged, and that importing the export gives the same wiki."""
    await export_folder(wiki.database, wiki.scope, folder)
    before = {path: data.encode() if isinstance(data, str) else data for path, data in imported_files.items()}
    after = {path: data for path, data in read_files(folder).items() if not path.startswith(".cairn")}
    assert after == {
        path: data for path, data in before.items() if path.endswith((".md", ".png")) and "/bak/" not in path
    }
    copy = await wiki.neighbour()
    assert (await run_import(copy, folder)).errors == ()
    await export_folder(copy.database, copy.scope, folder.with_name("copy"))
    assert read_files(folder.with_name("copy")) == read_files(folder)
    await check_derived_rows(copy)


def zipped(path: Path, files_to_zip: dict[str, str | bytes], top: str = "") -> Path:
    with ZipFile(path, "w") as zip:
        for name, data in files_to_zip.items():
            zip.writestr(top + name, data)
    return path


async def test_a_notion_export_becomes_pages_with_titles_links_and_parents(wiki: Wiki, tmp_path: Path) -> None:
    result = await run_import(wiki, zipped(tmp_path / "notion.zip", NOTION))
    assert (result.errors, result.warnings, result.created) == ((), (), 7)
    assert (result.format, result.left_out, result.attachments) == (Format.NOTION, {".csv": 2}, 1)
    pages = {row["slug"]: row for row in await wiki.rows("pages")}
    titles = {slug: page["title"] for slug, page in pages.items()}
    long = "a-page-whose-title-is-longer-than-the-fifty-characters-of-a-file-name"
    assert titles == {
        "home": "Home", "recipes": "Recipes", "recipes-home": "Recipes", long: LONG, "cafe-zurich": "Café Zürich",
        "page-ffffffff": "🍞", "bake": "Bake",
    }  # fmt: skip
    assert result.broken_links == 0
    assert await links(wiki) == {
        "home": {"recipes", long}, "recipes": {"home"}, long: {"cafe-zurich"},
    }  # fmt: skip
    assert await parents(wiki) == dict.fromkeys(set(titles) - {"home"}, "home"), "a row hangs above its database"
    assert "`[home](../Home%20" in pages["recipes"]["body_md"]
    assert pages["bake"]["body_md"] == "Note: text that is no property."
    assert pages["bake"]["tags"] == ["a", "b"]
    assert pages["bake"]["metadata"]["Status"] == "Done"
    assert not any(A in row["alias"] or CUT.lower() == row["alias"] for row in await wiki.rows("aliases"))
    await check_derived_rows(wiki)
    await assert_export_is_unchanged(wiki, tmp_path / "out", NOTION)


async def test_a_changed_notion_page_is_exported_with_notion_links(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, NOTION)
    path = f"Home {A}/{CUT} {C}.md"
    page = (await pages_by_path(wiki))[path]
    await update_page(
        wiki.database, wiki.scope, page["id"], body=page["body_md"] + "\n\n[[Home]] and [[Recipes|those]]."
    )
    await export_folder(wiki.database, wiki.scope, tmp_path / "out")
    assert read_files(tmp_path / "out")[path].decode() == (
        f"# {LONG}\n\n[Zürich](Cafe%CC%81%20Zu%CC%88rich%20{E}.md)\n\n[Home](../Home%20{A}.md) and "
        f"[those](Recipes%20{B}.md).\n"
    )


async def test_the_parts_of_a_notion_export_are_imported_together(wiki: Wiki, tmp_path: Path) -> None:
    halves = [dict(list(NOTION.items())[:2]), dict(list(NOTION.items())[2:])]
    with ZipFile(tmp_path / "export.zip", "w") as zip:
        for number, half in enumerate(halves, 1):
            name = f"Export-1-Part-{number}.zip"
            zip.write(zipped(tmp_path / name, half), name)
        zip.writestr("Export-1-Part-3.zip", b"no zip")
    result = await run_import(wiki, tmp_path / "export.zip")
    assert (result.created, result.broken_links, result.format) == (7, 0, Format.NOTION)
    assert [(error.path, error.code) for error in result.errors] == [("Export-1-Part-3.zip", "UNREADABLE")]


@pytest.mark.parametrize("top", ["", "graph/"])
async def test_a_logseq_graph_becomes_pages_with_names_links_and_parents(wiki: Wiki, tmp_path: Path, top: str) -> None:
    result = await run_import(wiki, zipped(tmp_path / "graph.zip", LOGSEQ, top))
    assert (result.errors, result.created) == ((), 5)
    assert (result.format, result.left_out, result.attachments) == (Format.LOGSEQ, {".edn": 1, "logseq/": 1}, 1)
    assert [(warning.path, warning.message.partition(";")[0]) for warning in result.warnings] == [
        (f"{top}pages/Drink___Bread.md", 'parent: no page answers to "Drink" yet')
    ]
    pages = {row["slug"]: row for row in await wiki.rows("pages")}
    assert set(pages) == {"food", "bread", "bread-pages", "project-x", "2026-01-31"}
    bread = "bread-pages" if pages["bread"]["metadata"]["imported_from"].endswith("Drink___Bread.md") else "bread"
    kvass = ({"bread", "bread-pages"} - {bread}).pop()
    assert await links(wiki) == {
        "food": {"2026-01-31"}, bread: {"food"}, kvass: {bread}, "project-x": {"2026-01-31"}, "2026-01-31": {bread},
    }  # fmt: skip
    assert await parents(wiki) == {bread: "food"}
    assert (pages[bread]["type"], pages[bread]["tags"]) == ("concept", ["baking", "slow food"])
    assert pages["project-x"]["tags"] == ["deep work", "soon"]
    assert f"[[2026-01-31#^{BLOCK}|Warm, with butter]]" in pages["food"]["body_md"]
    assert "((00000000-" in pages["food"]["body_md"], "no note has that block"
    assert pages["2026-01-31"]["created_at"].date().isoformat() == "2026-01-31"
    await check_derived_rows(wiki)
    await assert_export_is_unchanged(wiki, tmp_path / "out", {f"{top}{path}": data for path, data in LOGSEQ.items()})


async def test_a_changed_logseq_page_is_exported_with_logseq_syntax(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, LOGSEQ)
    page = (await pages_by_path(wiki))["pages/Food.md"]
    await update_page(wiki.database, wiki.scope, page["id"], body=page["body_md"] + "\n- [[Bread|rye]]")
    await export_folder(wiki.database, wiki.scope, tmp_path / "out")
    text = read_files(tmp_path / "out")["pages/Food.md"].decode()
    assert text.startswith(f"icon:: x\n\n- All of it, see (({BLOCK})) and ((0")
    assert "[[Food/Bread|rye]]" in text or "[[Drink/Bread|rye]]" in text


@pytest.mark.parametrize(
    ("given", "format"),
    [
        ({"a.md": "A [link](b.md).", "b.md": "B."}, Format.MARKDOWN),
        ({"a.md": "A [[b]]."}, Format.OBSIDIAN),
        ({"a.md": "A.", ".obsidian/app.json": "{}"}, Format.OBSIDIAN),
        ({"journals/2026_01_31.md": "- A", "pages/b.md": "- B"}, Format.LOGSEQ),
        ({f"a {A}.md": "# a"}, Format.NOTION),
    ],
)
@pytest.mark.parametrize("form", ["folder", "zip"])
async def test_a_folder_is_recognised_by_its_content(
    wiki: Wiki, tmp_path: Path, given: dict[str, str], format: Format, form: str
) -> None:
    path = write_files(tmp_path / "x", given) if form == "folder" else zipped(tmp_path / "x.zip", given)
    result = await run_import(wiki, path)
    assert (result.format, result.left_out, result.errors) == (format, {}, ())


async def test_a_caller_may_set_the_format_of_a_folder(wiki: Wiki, tmp_path: Path) -> None:
    folder = write_files(tmp_path, {f"a {A}.md": "# A title\n\nText."})
    result: ImportResult = await import_path(wiki.database, wiki.scope, folder, format=Format.MARKDOWN)
    assert result.format is Format.MARKDOWN
    assert [row["title"] for row in await wiki.rows("pages")] == [f"a {A}"]


async def test_markdown_links_to_files_become_page_links(wiki: Wiki, tmp_path: Path) -> None:
    given = {
        "docs/a b.md": "To [c](../c.md#End \"title\"), [c](/c.md), [gone](gone.md), [x](x.png), `[c](../c.md)`.",
        "c.md": "To [it](docs/a%20b.md) and [mail](mailto:a@b.md) and [out](../../c.md).",
    }  # fmt: skip
    await import_files(wiki, tmp_path, given)
    assert await links(wiki) == {"a-b": {"c"}, "c": {"a-b"}}
    pages = {row["slug"]: row["body_md"] for row in await wiki.rows("pages")}
    assert pages["c"] == "To [it](wiki:a-b) and [mail](mailto:a@b.md) and [out](../../c.md)."
    await assert_export_is_unchanged(wiki, tmp_path / "out", given)


async def test_the_folder_determines_the_type_and_unknown_types_are_reported(wiki: Wiki, tmp_path: Path) -> None:
    given = {
        "standards/style.md": "S.", "notes/Decisions/2026/why.md": "W.",
        "context/goals.md": "---\ntype: concept\n---\nG.",
        "a.md": "---\ntype: recipe\n---\nA.", "b.md": "---\ntype: recipe\n---\nB.",
        "products/c.md": "---\ntype: gadget\n---\nC.",
    }  # fmt: skip
    result = await import_files(wiki, tmp_path, given)
    assert {row["slug"]: row["type"] for row in await wiki.rows("pages")} == {
        "style": "standard", "why": "decision", "goals": "concept", "a": "reference", "b": "reference", "c": "product",
    }  # fmt: skip
    warnings = sorted((warning.path, warning.code, warning.message.partition(" (")[0]) for warning in result.warnings)
    assert warnings == [
        ("a.md", "UNKNOWN_TYPE", '"recipe" is no type of Cairn\'s'),
        ("products/c.md", "UNKNOWN_TYPE", '"gadget" is no type of Cairn\'s'),
    ]
    assert "2 files have it" in "".join(warning.message for warning in result.warnings)
    assert result.errors == ()


async def test_a_file_updates_its_page_that_is_stored_as_a_reference(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, {"standards/style.md": "S."})
    await wiki.connection.execute("UPDATE pages SET type = 'reference'")
    result = await import_files(wiki, tmp_path, {"standards/style.md": "T."})
    assert (result.created, result.changed) == (0, 1)
