"""A wiki that is exported and imported again is the same wiki, byte for byte."""

from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import orjson
import pytest

from resolvers.auth.owners import find_owner, set_language, set_owner_settings
from resolvers.auth.wiki_settings import WikiSettings
from resolvers.import_export.export_files import export_path, export_zip
from resolvers.import_export.importing import import_path
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, create_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.sources.sources import cite_source, forget_source
from tests.compiler.scripted_compiler import compile_all
from tests.resolvers.import_export.exports import create_full_wiki, export_files, read_files
from tests.resolvers.import_export.vaults import import_counts, import_files, run_import, write_files
from tests.wiki import Wiki, check_derived_rows


async def test_a_wiki_is_imported_unchanged_byte_for_byte(wiki: Wiki, tmp_path: Path) -> None:
    await create_full_wiki(wiki)
    first = await export_files(wiki, tmp_path / "first")
    assert set(first) == {
        ".cairn/files", ".cairn/mentions.jsonl", ".cairn/sources.jsonl", ".cairn/wiki.json",
        "entity/austin-texas.md", "topic/austin.md",
        "topic/travel.md",
    }  # fmt: skip
    copy = await wiki.neighbour()
    result = await run_import(copy, tmp_path / "first")
    assert result.errors == ()
    assert (*import_counts(result), result.sources) == (3, 0, 0, 0, 3)
    await check_derived_rows(copy)
    assert await export_files(copy, tmp_path / "second") == first
    assert import_counts(await run_import(copy, tmp_path / "first")) == (0, 0, 3, 0)
    assert await export_files(copy, tmp_path / "second") == first


async def test_json_lines_are_imported_unchanged_byte_for_byte(wiki: Wiki, tmp_path: Path) -> None:
    await create_full_wiki(wiki)
    await export_path(wiki.database, wiki.scope, tmp_path / "one.jsonl")
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / "one.jsonl")).errors == ()
    await export_path(copy.database, copy.scope, tmp_path / "two.jsonl")
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_a_score_boost_is_imported_unchanged(wiki: Wiki, tmp_path: Path, form: str) -> None:
    tenant_id, owner_id = wiki.scope.tenant_id, wiki.scope.owner_id
    await set_owner_settings(wiki.database, tenant_id, owner_id, WikiSettings(score_boost=1.25))
    await export_path(wiki.database, wiki.scope, tmp_path / form)
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / form)).errors == ()
    assert (await find_owner(wiki.database, tenant_id, copy.scope.owner_id)).score_boost == 1.25


async def test_a_score_boost_out_of_bounds_is_reported(wiki: Wiki, tmp_path: Path) -> None:
    write_files(tmp_path, {".cairn/wiki.json": '{"score_boost": 11}', "a.md": "A."})
    (error,) = (await run_import(wiki, tmp_path)).errors
    assert (error.path, error.code) == (".cairn/wiki.json", "BAD_USER_INPUT")
    assert (await find_owner(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id)).score_boost == 0.9


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
@pytest.mark.parametrize("language", ["english", "german"])
async def test_an_empty_wiki_is_imported_with_its_language(
    wiki: Wiki, tmp_path: Path, form: str, language: str
) -> None:
    await set_language(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, language)
    await export_path(wiki.database, wiki.scope, tmp_path / form, history=True)
    copy = await wiki.neighbour()
    result = await run_import(copy, tmp_path / form)
    assert (*import_counts(result), result.sources, result.errors) == (0, 0, 0, 0, 0, ())
    assert (
        await wiki.connection.fetchval("SELECT language FROM owners WHERE id = $1", copy.scope.owner_id)
    ) == language


async def test_a_wiki_is_imported_from_the_working_directory(
    wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The marker of the folder with histories does not depend on the folder's name."""
    await create_full_wiki(wiki)
    await export_path(wiki.database, wiki.scope, tmp_path, history=True)
    monkeypatch.chdir(tmp_path)
    copy = await wiki.neighbour()
    result = await run_import(copy, Path())
    assert (*import_counts(result), result.sources, result.errors) == (3, 0, 0, 0, 3, ())
    assert len(await copy.rows("revisions")) == len(await wiki.rows("revisions"))


async def test_a_citation_above_headings_named_like_the_beginning_is_kept(wiki: Wiki, tmp_path: Path) -> None:
    body = "It is hot.\n\n## Overview\n\nA city.\n\n## Lead\n\nOf water."
    page = await create_page(wiki.database, wiki.scope, PageDraft(type="topic", title="Austin", body=body))
    slug = (await wiki.rows("sections", order="position"))[0]["section_slug"]
    source_id = await wiki.add_source()
    await cite_source(wiki.database, wiki.scope, page_id=page.page_id, section_slug=slug, source_id=source_id)
    first = await export_files(wiki, tmp_path / "first")
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / "first")).errors == ()
    assert await export_files(copy, tmp_path / "second") == first


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_reasons_and_language_are_imported_unchanged(wiki: Wiki, tmp_path: Path, form: str) -> None:
    await create_full_wiki(wiki)
    await set_language(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, "german")
    pages = {page["title"]: page["id"] for page in await wiki.rows("pages")}
    for reason in ("import", "because"):
        await link_pages(wiki.database, wiki.scope, pages["Austin"], pages["Austin, Texas"], reason=reason)
    await export_path(wiki.database, wiki.scope, tmp_path / form)
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / form)).errors == ()
    assert await reasons(copy) == await reasons(wiki)
    assert {"planner", "because", "import"} in (await reasons(copy)).values()
    (tmp_path / "again").mkdir()
    await export_path(copy.database, copy.scope, tmp_path / "again" / form)
    first, second = tmp_path / form, tmp_path / "again" / form
    if first.is_dir():
        assert read_files(second) == read_files(first)
        assert b"german" in read_files(first)[".cairn/wiki.json"]
    else:
        assert second.read_bytes() == first.read_bytes()
    assert (
        await wiki.connection.fetchval("SELECT language FROM owners WHERE id = $1", copy.scope.owner_id)
    ) == "german"
    result = await run_import(copy, tmp_path / form)
    assert import_counts(result) == (0, 0, 3, 0)


async def reasons(wiki: Wiki) -> dict[tuple[str, str], set[str]]:
    titles = {page["id"]: page["title"] for page in await wiki.rows("pages")}
    return {(titles[start], titles[end]): found for (start, end), found in (await wiki.references()).items()}


async def test_a_wiki_that_has_pages_keeps_its_language(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "own", {"a.md": "A."})
    write_files(tmp_path / "german", {".cairn/wiki.json": '{"language": "german"}', "b.md": "B."})
    write_files(tmp_path / "elvish", {".cairn/wiki.json": '{"language": "elvish"}', "b.md": "B."})
    assert (await run_import(wiki, tmp_path / "german")).errors == ()
    assert (
        await wiki.connection.fetchval("SELECT language FROM owners WHERE id = $1", wiki.scope.owner_id)
    ) == "english"
    (error,) = (await run_import(await wiki.neighbour(), tmp_path / "elvish")).errors
    assert error.path == ".cairn/wiki.json"


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_a_wiki_is_not_changed_by_its_own_export(wiki: Wiki, tmp_path: Path, form: str) -> None:
    """An import keeps whether a page has the path of a file, also where an export cannot use that path."""
    await create_full_wiki(wiki)
    files = {"Plugins/Templates.md": "One. [[Austin]]", "Case.md": "Upper.", "case.md": "Lower.", "con.md": "Device."}
    await import_files(wiki, tmp_path / "vault", files)
    before = await wiki.rows("pages")
    await export_path(wiki.database, wiki.scope, tmp_path / form)
    assert import_counts(await run_import(wiki, tmp_path / form)) == (0, 0, 7, 0)
    assert await wiki.rows("pages") == before


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_a_wiki_without_pages_is_imported_unchanged(wiki: Wiki, tmp_path: Path, form: str) -> None:
    await export_path(wiki.database, wiki.scope, tmp_path / form)
    assert import_counts(await run_import(await wiki.neighbour(), tmp_path / form)) == (0, 0, 0, 0)


async def test_json_lines_keep_the_paths_of_imported_files(wiki: Wiki, tmp_path: Path) -> None:
    write_files(
        tmp_path / "vault", {"Plugins/Templates.md": "One.", "Clipper/Templates.md": "Two. [[Plugins/Templates]]"}
    )
    await run_import(wiki, tmp_path / "vault")
    folder = await export_files(wiki, tmp_path / "folder")
    await export_path(wiki.database, wiki.scope, tmp_path / "lines.jsonl")
    copy = await wiki.neighbour()
    await run_import(copy, tmp_path / "lines.jsonl")
    assert "Plugins/Templates.md" in folder
    assert await export_files(copy, tmp_path / "again") == folder


async def test_a_zip_export_has_the_files_of_a_folder_export(wiki: Wiki, tmp_path: Path) -> None:
    await create_full_wiki(wiki)
    folder = await export_files(wiki, tmp_path / "folder")
    await export_path(wiki.database, wiki.scope, tmp_path / "wiki.zip")
    with ZipFile(tmp_path / "wiki.zip") as zip:
        assert {name: zip.read(name) for name in zip.namelist()} == {
            name: data for name, data in folder.items() if name != ".cairn/files"
        }
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / "wiki.zip")).errors == ()
    file = BytesIO()
    await export_zip(copy.database, copy.scope, file)
    assert file.getvalue() == (tmp_path / "wiki.zip").read_bytes()


async def test_dates_in_headers_of_files_become_dates_of_pages(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(
        wiki,
        tmp_path,
        {
            "old.md": "---\ncreated: 2020-01-02\nupdated: 2021-02-03T04:05:06Z\nrelated: [new]\n---\nOld. [[new]]",
            "new.md": "---\ncreated_at: 2022-01-01\ncreated: last spring\n---\nNew.",
        },
    )
    pages = {page["title"]: page for page in await wiki.rows("pages")}
    assert pages["old"]["created_at"] == datetime(2020, 1, 2, tzinfo=UTC)
    assert pages["old"]["updated_at"] == datetime(2021, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert pages["new"]["created_at"] == datetime(2022, 1, 1, tzinfo=UTC)
    assert pages["new"]["metadata"]["created"] == "last spring"


async def test_notes_are_dated_by_their_file_name_header_or_text(wiki: Wiki, tmp_path: Path) -> None:
    files = {
        "log/2023-06-30 Fair.md": "Text.",
        "post.md": "---\ndate: 2022-04-01\n---\nText.",
        "minutes.md": "**Date:** 2024-02-21\n\nText.",
        "today.md": "Text.",
    }
    await import_files(wiki, tmp_path, files)
    pages = {page["title"]: page for page in await wiki.rows("pages")}
    days = {title: page["created_at"].date().isoformat() for title, page in pages.items()}
    assert days.pop("today") > "2026"
    assert days == {"2023-06-30 Fair": "2023-06-30", "post": "2022-04-01", "minutes": "2024-02-21"}
    assert pages["post"]["metadata"]["date"] == "2022-04-01", "the header field stays in the metadata"


async def test_a_page_edited_after_its_import_keeps_the_date_of_the_edit(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, {"old.md": "---\nupdated: 2021-02-03\n---\nOld."})
    page = (await wiki.rows("pages"))[0]
    await update_page(wiki.database, wiki.scope, page["id"], body="New.")
    changed = (await wiki.page(page["id"]))["updated_at"]
    assert changed > datetime(2026, 1, 1, tzinfo=UTC)
    await import_files(wiki, tmp_path, {"other.md": "---\nupdated: 2021-02-03\n---\nOld."})
    assert (await wiki.page(page["id"]))["updated_at"] >= changed


async def test_a_file_that_redirects_becomes_a_former_slug(wiki: Wiki, tmp_path: Path) -> None:
    result = await import_files(
        wiki,
        tmp_path,
        {
            "auth.md": "---\nslug: auth\nredirectTo: auth-middleware\n---\n",
            "auth-middleware.md": "Text.",
            "user.md": "See [[auth]].",
            "lost.md": "---\nredirectTo: nowhere\n---\n",
        },
    )
    assert import_counts(result) == (2, 0, 0, 0)
    assert result.broken_links == 1
    (old,) = await wiki.rows("old_slugs", "slug")
    assert old["slug"] == "auth"
    assert len(await wiki.references()) == 1
    await check_derived_rows(wiki)


async def test_redirecting_files_may_form_chains_in_any_order(wiki: Wiki, tmp_path: Path) -> None:
    notes = {
        "a.md": "---\nredirectTo: b\n---\n",
        "b.md": "---\nredirectTo: c\n---\n",
        "c.md": "---\nredirectTo: page\n---\n",
        "page.md": "Text.",
        "round.md": "---\nredirectTo: trip\n---\n",
        "trip.md": "---\nredirectTo: round\n---\n",
    }
    result = await import_files(wiki, tmp_path, notes)
    assert (import_counts(result), result.broken_links) == ((1, 0, 0, 0), 2)
    assert [old["slug"] for old in await wiki.rows("old_slugs", "slug")] == ["a", "b", "c"]
    assert await import_files(wiki, tmp_path, {}) == replace(result, created=0, unchanged=1)
    await check_derived_rows(wiki)


async def test_the_marker_of_an_export_does_not_relax_validation(wiki: Wiki, tmp_path: Path) -> None:
    """A folder with the marker of an export is read as strictly as any other."""
    write_files(tmp_path, {".cairn/wiki.json": "{}", ".cairn/sources.jsonl": '{"kind": 1}\nno\n', "a.md": "A."})
    result = await import_path(wiki.database, wiki.scope, tmp_path)
    assert import_counts(result) == (1, 0, 0, 2)
    assert orjson.dumps([problem.path for problem in result.errors]) == b'["sources.jsonl:1","sources.jsonl:2"]'


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_imported_evidence_links_are_deleted_with_their_source(wiki: Wiki, tmp_path: Path, form: str) -> None:
    """The reasons of these links have the ids of sources, which differ in another wiki."""
    here = wiki.database, wiki.scope
    await create_full_wiki(wiki)
    pages = {page["title"]: page["id"] for page in await wiki.rows("pages")}
    for row in await wiki.rows("sources"):
        await link_pages(*here, pages["Austin"], pages["Austin, Texas"], reason=f"co_mention:{row['id']}")
    await export_path(*here, tmp_path / form)
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / form)).errors == ()
    imported_reasons = {reason for reasons in (await copy.references()).values() for reason in reasons}
    own = {f"co_mention:{row['id']}" for row in await copy.rows("sources")}
    assert {reason for reason in imported_reasons if reason.startswith("co_mention")} == own
    assert import_counts(await run_import(copy, tmp_path / form)) == (0, 0, 3, 0)
    (tmp_path / "again").mkdir()
    await export_path(copy.database, copy.scope, tmp_path / "again" / form)
    if form == "wiki.jsonl":
        assert (tmp_path / "again" / form).read_bytes() == (tmp_path / form).read_bytes()
    for row in await copy.rows("sources"):
        await forget_source(copy.database, copy.scope, row["id"])
    await compile_all(copy)
    assert not any(reason.startswith("co_mention") for each in (await copy.references()).values() for reason in each)


async def test_a_link_reason_of_an_unknown_source_is_left_out(wiki: Wiki, tmp_path: Path) -> None:
    """An export of an older release has such a reason: it has the id of the wiki that it came from."""
    reasons = f"co_mention:{wiki.scope.owner_id}: co_mention:7".split(": ")
    lines = "".join(f"      - {reason}\n" for reason in reasons)
    write_files(tmp_path, {
        "a.md": f"---\nrelated: [/wiki/topic/b]\ntype: topic\ncairn:\n  reasons:\n    /wiki/topic/b:\n{lines}---\nA.",
        "b.md": "---\ntype: topic\n---\nB.",
    })  # fmt: skip
    assert (await run_import(wiki, tmp_path)).errors == ()
    assert list((await wiki.references()).values()) == [{"co_mention:7"}]


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_the_target_of_a_merge_is_imported_unchanged(wiki: Wiki, tmp_path: Path, form: str) -> None:
    here = wiki.database, wiki.scope
    for title in ("Kiln", "Oven", "Stove"):
        await create_page(*here, PageDraft("topic", title, body=f"A {title}."))
    pages = {page["title"]: page["id"] for page in await wiki.rows("pages")}
    await merge_pages(*here, pages["Oven"], pages["Kiln"])
    await export_path(*here, tmp_path / form)
    copy = await wiki.neighbour()
    for _ in range(2):
        assert (await run_import(copy, tmp_path / form)).errors == ()
        there = {page["id"]: page["title"] for page in await copy.rows("pages")}
        (merged,) = await copy.rows("merged_pages", "1")
        assert (there[merged["page_id"]], there[merged["into_page_id"]]) == ("Oven", "Kiln")
    await export_path(copy.database, copy.scope, tmp_path / "again.jsonl")
    await export_path(*here, tmp_path / "first.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "first.jsonl").read_bytes()


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
@pytest.mark.parametrize("others", [["topic"], ["entity"], ["topic", "topic"], ["entity", "topic"]])
async def test_an_archived_parent_is_imported_unchanged_beside_pages_of_its_title(
    wiki: Wiki, tmp_path: Path, form: str, others: list[str]
) -> None:
    here = wiki.database, wiki.scope
    parent = (await create_page(*here, PageDraft("topic", "Garden"))).page_id
    await archive_page(*here, parent)
    child, *_ = [(await create_page(*here, PageDraft(type, "Garden"))).page_id for type in others]
    await set_parent(*here, child, parent_id=parent)
    await link_pages(*here, child, parent, reason="manual")
    pages = (await export_path(*here, tmp_path / form)).pages
    assert import_counts(await run_import(wiki, tmp_path / form)) == (0, 0, pages, 0)
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / form)).errors == ()
    copied = {row["id"]: row for row in await copy.rows("pages")}
    (copied_child,) = [row for row in copied.values() if row["parent_page_id"]]
    assert copied[copied_child["parent_page_id"]]["status"] == "archived"
    assert import_counts(await run_import(copy, tmp_path / form)) == (0, 0, pages, 0)
