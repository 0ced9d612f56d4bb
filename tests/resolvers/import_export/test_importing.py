"""Importing notes: a vault becomes a wiki, a second import changes nothing, and bad files do not stop the others."""

import os
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from db.scope import Role
from resolvers.errors import BadInput, Forbidden
from resolvers.import_export.export_files import export_folder
from resolvers.import_export.importing import import_path
from resolvers.import_export.notes import NOTE_MAX
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from tests.resolvers.import_export.vaults import (
    backlinks,
    import_counts,
    import_files,
    pages_by_path,
    run_import,
    write_files,
)
from tests.wiki import Wiki


async def test_the_order_of_notes_does_not_matter(wiki: Wiki, tmp_path: Path) -> None:
    result = await import_files(
        wiki,
        tmp_path,
        {
            "a.md": "---\nparent: Zebra\nrelated: [zoo/b]\n---\nSee [[Zebra|stripes]] and [[nowhere]].",
            "zoo/b.md": "Back to [[a]].",
            "Zebra.md": "Stripes.",
        },
    )
    assert import_counts(result) == (3, 0, 0, 0)
    assert (result.links, result.broken_links) == (3, 1)
    pages = await pages_by_path(wiki)
    assert pages["a.md"]["parent_page_id"] == pages["Zebra.md"]["id"]
    assert await backlinks(wiki) == {"a.md": {"zoo/b.md"}, "zoo/b.md": {"a.md"}, "Zebra.md": {"a.md"}}


async def test_a_note_becomes_a_page_with_the_fields_of_its_header(wiki: Wiki, tmp_path: Path) -> None:
    text = """---
title: Austin, Texas
type: entity
slug: austin
summary: A city.
aliases: [ATX]
tags: [city, texas]
status: archived
confidence: high
---
## Overview

Hot."""
    await import_files(wiki, tmp_path, {"trip.md": text})
    page = (await pages_by_path(wiki))["trip.md"]
    fields = {name: page[name] for name in ("type", "slug", "title", "summary", "body_md", "tags", "status")}
    assert fields == {
        "type": "entity",
        "slug": "austin",
        "title": "Austin, Texas",
        "summary": "A city.",
        "body_md": "## Overview\n\nHot.",
        "tags": ["city", "texas"],
        "status": "archived",
    }
    assert page["metadata"] == {"confidence": "high", "imported_from": "trip.md"}
    sources = {row["alias"]: row["source"] for row in await wiki.rows("aliases")}
    assert sources == {"austin texas": "compiler", "atx": "import", "trip": "import"}


async def test_tags_in_the_text_of_a_note_are_imported(wiki: Wiki, tmp_path: Path) -> None:
    many = " ".join(f"#t{n}" for n in range(60))
    files = {"a.md": "---\ntags: [city, Food]\n---\nA #food place by the #river.", "b.md": many}
    await import_files(wiki, tmp_path / "in", files)
    pages = await pages_by_path(wiki)
    assert pages["a.md"]["tags"] == ["city", "Food", "river"]
    assert pages["b.md"]["tags"] == [f"t{n}" for n in range(50)]
    assert import_counts(await run_import(wiki, tmp_path / "in")) == (0, 0, 2, 0)


async def test_a_removed_tag_that_the_text_still_has_is_not_imported_again(wiki: Wiki, tmp_path: Path) -> None:
    """A person removed the tag from the page, whose text still has it."""
    await import_files(wiki, tmp_path / "in", {"a.md": "A #food place."})
    page_id = (await pages_by_path(wiki))["a.md"]["id"]
    await update_page(wiki.database, wiki.scope, page_id, tags=[])
    await export_folder(wiki.database, wiki.scope, tmp_path / "out")
    assert import_counts(await run_import(wiki, tmp_path / "out")) == (0, 0, 1, 0)
    assert (await pages_by_path(wiki))["a.md"]["tags"] == []


async def test_a_note_of_an_unknown_type_is_a_reference(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, {"a.md": "---\ntype: recipe\n---\nEggs."})
    page = (await pages_by_path(wiki))["a.md"]
    assert page["type"] == "reference"
    assert page["metadata"]["category"] == "recipe"


async def test_changes_of_a_file_change_its_page(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, {"a.md": "One.", "b.md": "Two."})
    assert import_counts(await import_files(wiki, tmp_path, {"a.md": "Other."})) == (0, 1, 1, 0)
    assert import_counts(await import_files(wiki, tmp_path, {"b.md": "---\nrelated: a\n---\nTwo."})) == (0, 1, 1, 0)
    pages = await pages_by_path(wiki)
    assert [(pages[name]["body_md"], pages[name]["version"]) for name in ("a.md", "b.md")] == [
        ("Other.", 2),
        ("Two.", 1),
    ]


async def test_a_file_without_a_sensitivity_leaves_that_of_its_page(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, {"plans.md": "Ours."})
    page_id, secret = (await wiki.row("pages"))["id"], {"imported_from": "plans.md", "sensitivity": "secret"}
    await update_page(wiki.database, wiki.scope, page_id, fields={"sensitivity": "secret"})
    assert import_counts(await import_files(wiki, tmp_path, {"plans.md": "Ours."})) == (0, 0, 1, 0)
    await import_files(wiki, tmp_path, {"plans.md": "Ours, too."})
    assert (await wiki.page(page_id))["metadata"] == secret
    await import_files(wiki, tmp_path, {"plans.md": "---\nsensitivity: internal\n---\nOurs."})
    assert (await wiki.page(page_id))["metadata"] == secret | {"sensitivity": "internal"}


async def test_a_file_without_the_mark_of_a_section_leaves_it(wiki: Wiki, tmp_path: Path) -> None:
    files = {"plans.md": "Ours.\n\n## Pay\n\nMuch."}
    await import_files(wiki, tmp_path, files)
    page_id, marked = (await wiki.row("pages"))["id"], "Ours.\n\n## Pay {sensitivity=secret}\n\nMuch."
    await update_page(wiki.database, wiki.scope, page_id, body=marked)
    assert import_counts(await import_files(wiki, tmp_path, files)) == (0, 0, 1, 0)
    await import_files(wiki, tmp_path, {"plans.md": "Ours.\n\n## Pay\n\nMore."})
    assert (await wiki.page(page_id))["body_md"] == marked.replace("Much", "More")


async def test_notes_of_the_same_title_become_separate_pages(wiki: Wiki, tmp_path: Path) -> None:
    files = {
        "Plugins/Templates.md": "Of plugins. [[Clipper/Templates]]",
        "Clipper/Templates.md": "Of the clipper.",
        "Clipper/deep/Templates.md": "Deep.",
        "Clipper/here.md": "[[Templates]] of this folder, and [[Plugins/Templates#Use|others]].",
        "top.md": "`[[Clipper/Templates]]`",
    }
    result = await import_files(wiki, tmp_path, files)
    slugs = {path: page["slug"] for path, page in (await pages_by_path(wiki)).items()}
    assert slugs["Clipper/Templates.md"] == "templates"
    assert slugs["Plugins/Templates.md"] == "templates-plugins"
    assert slugs["Clipper/deep/Templates.md"] == "templates-deep"
    found = await backlinks(wiki)
    assert found["Clipper/Templates.md"] == {"Plugins/Templates.md", "Clipper/here.md"}
    assert found["Plugins/Templates.md"] == {"Clipper/here.md"}
    assert (await run_import(wiki, tmp_path)) == replace(result, created=0, unchanged=5)


async def test_a_file_keeps_its_page_when_files_of_the_same_title_are_added(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, {"b/Note.md": "B."})
    before = (await pages_by_path(wiki))["b/Note.md"]
    await import_files(wiki, tmp_path, {"a/Note.md": "A.", "Note.md": "Top."})
    pages = await pages_by_path(wiki)
    assert pages["b/Note.md"]["id"] == before["id"]
    assert {pages[path]["slug"] for path in ("b/Note.md", "Note.md", "a/Note.md")} == {"note", "note-2", "note-a"}


async def test_a_moved_file_keeps_its_page(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, {"inbox/Note.md": "N."})
    (tmp_path / "done").mkdir()
    (tmp_path / "inbox" / "Note.md").rename(tmp_path / "done" / "Note.md")
    assert import_counts(await run_import(wiki, tmp_path)) == (0, 1, 0, 0)
    assert list(await pages_by_path(wiki)) == ["done/Note.md"]


async def test_a_page_with_a_changed_slug_is_still_matched_to_its_file(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, {"Note.md": "N."})
    page = (await pages_by_path(wiki))["Note.md"]
    await update_page(wiki.database, wiki.scope, page["id"], slug="other")
    assert import_counts(await run_import(wiki, tmp_path)) == (0, 0, 1, 0)


async def test_bad_files_are_reported_and_other_files_are_imported(wiki: Wiki, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    vault = tmp_path / "vault"
    write_files(outside, {"secret.md": "Secret."})
    write_files(
        vault,
        {
            "good.md": "Good.",
            "yaml.md": "---\ntags: [a\n---\nText.",
            "latin.md": "caf\xe9".encode("latin-1"),
            "nul.md": "a\0b",
            "huge.md": b"x" * (NOTE_MAX + 1),
            "nameless.md": "---\ntitle: '!!!'\n---\nText.",
            "one.md": "---\nslug: same\n---\nOne.",
            "two.md": "---\nslug: same\n---\nTwo.",
            ".obsidian/workspace.md": "Hidden.",
            ".hidden.md": "Hidden.",
            "picture.png": b"\x89PNG",
        },
    )
    (vault / "leads-out.md").symlink_to(outside / "secret.md")
    (vault / "folder-out").symlink_to(outside)
    (vault / "dangling.md").symlink_to(vault / "gone.md")
    os.mkfifo(vault / "pipe.md")
    result = await run_import(wiki, vault)
    assert import_counts(result) == (2, 0, 0, 10)
    assert {problem.path: problem.code for problem in result.errors} == {
        "yaml.md": "BAD_USER_INPUT",
        "latin.md": "BAD_USER_INPUT",
        "nul.md": "BAD_USER_INPUT",
        "huge.md": "LIMIT_EXCEEDED",
        "nameless.md": "BAD_USER_INPUT",
        "two.md": "BAD_USER_INPUT",
        "leads-out.md": "BAD_USER_INPUT",
        "folder-out": "BAD_USER_INPUT",
        "dangling.md": "BAD_USER_INPUT",
        "pipe.md": "BAD_USER_INPUT",
    }
    assert all(problem.message for problem in result.errors)
    assert set(await pages_by_path(wiki)) == {"good.md", "one.md"}


async def test_notes_that_meet_a_hidden_page_are_reported_and_others_are_imported(wiki: Wiki, tmp_path: Path) -> None:
    secret = "## Cost {sensitivity=secret}\n\nMuch."
    await create_page(wiki.database, wiki.scope, PageDraft("reference", "Plans", metadata={"sensitivity": "secret"}))
    for title in ("Budget", "Sums"):
        await create_page(wiki.database, wiki.scope, PageDraft("reference", title, body=secret))
    files = {
        "plans.md": "Ours.",
        "budget.md": "Ours.",
        "part.md": "---\nparent: Sums\n---\nA part.",
        "old.md": "---\nredirectTo: Sums\n---\n",
        "good.md": "Good.",
    }
    result = await import_files(await wiki.colleague(), tmp_path, files)
    assert import_counts(result) == (2, 0, 0, 2)
    assert sorted((error.path, error.code) for error in result.errors) == [
        ("budget.md", "FORBIDDEN"), ("old.md", "FORBIDDEN"), ("part.md", "FORBIDDEN"), ("plans.md", "NOT_FOUND"),
    ]  # fmt: skip
    unchanged = {page["title"] for page in await wiki.rows("pages", version=1)}
    assert unchanged == {"Budget", "Plans", "Sums", "good", "part"}


async def test_a_path_that_is_not_utf_8_is_reported_and_others_are_imported(wiki: Wiki, tmp_path: Path) -> None:
    write_files(tmp_path, {"good.md": "Good."})
    write_files(tmp_path, {os.fsdecode(name): "Text." for name in (b"caf\xe9/in.md", b"na\xefve.md")})
    result = await run_import(wiki, tmp_path)
    assert import_counts(result) == (1, 0, 0, 2)
    assert [(problem.path, problem.message) for problem in result.errors] == [
        ("caf\ufffd/in.md", "its path is not UTF-8: rename it"),
        ("na\ufffdve.md", "its path is not UTF-8: rename it"),
    ]


async def test_a_date_out_of_range_stays_in_the_metadata_as_written(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "in", {"a.md": "---\ncreated: 0001-01-01\nupdated: 9999-12-31\n---\nText."})
    page = (await pages_by_path(wiki))["a.md"]
    assert (page["metadata"]["created"], page["metadata"]["updated"]) == ("0001-01-01", "9999-12-31")
    assert (await export_folder(wiki.database, wiki.scope, tmp_path / "out")).pages == 1


async def test_an_impossible_parent_is_reported_and_the_page_is_imported(wiki: Wiki, tmp_path: Path) -> None:
    files = {"a.md": "---\nparent: b\n---\nA.", "b.md": "---\nparent: a\n---\nB.", "c.md": "---\nparent: c\n---\nC."}
    result = await import_files(wiki, tmp_path, files)
    assert import_counts(result) == (3, 0, 0, 0)
    assert [problem.path for problem in result.errors] == ["b.md", "c.md"]


async def test_known_sources_are_cited_and_unknown_ones_stay_in_the_metadata(wiki: Wiki, tmp_path: Path) -> None:
    source_id = await wiki.add_source(ref="doc-1", content="One.\nTwo.\n")
    text = """---
sources:
  - {ref: doc-1, section: Related entities, lines: 1-2, summary: Both}
  - doc-1
  - {ref: unheard, lines: "4"}
---
## Summary

S.

## Related entities

R."""
    result = await import_files(wiki, tmp_path, {"a.md": text})
    assert result.errors == ()
    sections = {row["id"]: row["section_slug"] for row in await wiki.rows("sections")}
    cited = {sections[row["section_id"]]: row for row in await wiki.rows("section_sources")}
    assert cited.keys() == {"related_entities", "summary"}
    assert {row["source_id"] for row in cited.values()} == {source_id}
    assert (cited["related_entities"]["line_start"], cited["related_entities"]["line_end"]) == (1, 2)
    assert (await pages_by_path(wiki))["a.md"]["metadata"]["sources"] == [{"ref": "unheard", "lines": "4-4"}]
    assert import_counts(await run_import(wiki, tmp_path)) == (0, 0, 1, 0)


async def test_a_byte_order_mark_is_not_part_of_the_first_json_line(wiki: Wiki, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text('\ufeff{"title": "A", "body": "x"}\r\n{"title": "B", "body": "x"}\r\n')
    assert import_counts(await run_import(wiki, tmp_path / "pages.jsonl")) == (2, 0, 0, 0)


async def test_each_line_of_a_jsonl_file_is_a_page(wiki: Wiki, tmp_path: Path) -> None:
    lines = [
        {"title": "One", "body": "To [[Two]].", "links": ["three"], "aliases": ["Uno"], "tags": ["n"]},
        {"title": "Two", "body": "2", "type": "topic", "slug": "zwei"},
        {"title": "Three", "body": "3"},
        {"title": "Three", "body": "Another three"},
    ]
    path = tmp_path / "pages.jsonl"
    path.write_bytes(b"\n\n".join(map(orjson.dumps, lines)) + b"\n{not json}\n[]\n" + b'{"title": "No body"}')
    result = await run_import(wiki, path)
    assert import_counts(result) == (4, 0, 0, 3)
    assert [problem.path for problem in result.errors] == ["pages.jsonl:8", "pages.jsonl:9", "pages.jsonl:10"]
    pages = {page["slug"]: page for page in await wiki.rows("pages")}
    assert pages.keys() == {"one", "zwei", "three", "three-2"}
    links = await wiki.references()
    assert links[pages["one"]["id"], pages["zwei"]["id"]] == {"text"}
    assert links[pages["one"]["id"], pages["three"]["id"]] == {"import"}
    assert await run_import(wiki, path) == replace(result, created=0, unchanged=4)


async def test_a_json_line_longer_than_the_limit_is_refused(wiki: Wiki, tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    lines = [{"title": "Long", "body": "x" * (NOTE_MAX + 1)}, {"title": "Short", "body": "x"}]
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    result = await run_import(wiki, path)
    assert [(problem.path, problem.code) for problem in result.errors] == [("pages.jsonl:1", "LIMIT_EXCEEDED")]
    assert result.created == 1


async def test_a_path_without_notes_is_an_error(wiki: Wiki, tmp_path: Path) -> None:
    write_files(tmp_path, {"notes.txt": "Text.", "empty/.md": "", "empty.jsonl": "\n \n"})
    for path in ("missing", "notes.txt", "empty", "empty.jsonl"):
        with pytest.raises(BadInput) as refused:
            await run_import(wiki, tmp_path / path)
        assert refused.value.field == "path"


async def test_readers_cannot_import_notes(wiki: Wiki, tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "A."})
    with pytest.raises(Forbidden):
        await run_import(wiki.with_role(Role.READER), tmp_path)
    assert await wiki.rows("pages") == []


async def test_progress_is_reported_for_every_note_of_every_step(wiki: Wiki, tmp_path: Path) -> None:
    steps: list[tuple[str, int, int, str]] = []
    write_files(tmp_path, {"a.md": "A.", "b.md": "B."})
    await import_path(wiki.database, wiki.scope, tmp_path, report=lambda *step: steps.append(step))
    assert steps == [
        (step, done, 2, name)
        for step in ("Reading", "Writing", "Linking")
        for done, name in enumerate(("a.md", "b.md"), 1)
    ]
