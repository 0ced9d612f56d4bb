"""Revisions of pages in exports and imports."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from db.scope import Role
from resolvers.import_export.export_files import export_path
from resolvers.pages.aliases import add_alias
from resolvers.pages.lifecycle import update_page
from resolvers.pages.revision_store import find_states
from tests.resolvers.import_export.exports import create_full_wiki, read_files
from tests.resolvers.import_export.vaults import import_counts, run_import
from tests.wiki import Wiki


async def create_revised_wiki(wiki: Wiki) -> None:
    """Create pages with histories: many edits, a rename, later aliases and metadata, and an erased revision."""
    await create_full_wiki(wiki)
    pages = {page["slug"]: page["id"] for page in await wiki.rows("pages")}
    body = "".join(f"Line {n} of a page.\n" for n in range(80))
    for n in range(70):
        text = body.replace(f"Line {n} ", f"Line ä{n} ")
        summary = None if n % 3 else f"Edit {n}"
        await update_page(wiki.database, wiki.scope, pages["austin"], body=text, edit_summary=summary)
    await update_page(wiki.database, wiki.scope, pages["austin"], title="Austin, TX", metadata={"n": 1})
    await add_alias(wiki.database, wiki.scope, pages["austin"], name="Bat City")
    await update_page(wiki.database, wiki.scope, pages["austin"], slug="bats", tags=["bat"])
    await update_page(wiki.database, wiki.scope, pages["travel"], body="By rail.")
    erased = "body_md = '', slug = NULL, metadata = NULL, aliases = NULL, erased_at = now()"
    await wiki.connection.execute(f"UPDATE revisions SET {erased} WHERE page_id = $1 AND version = 1", pages["travel"])


async def histories(wiki: Wiki) -> dict[tuple[str, int], tuple[Any, ...]]:
    """Return the states of all pages, by slug and version, without their ids."""
    found = {}
    for page in await wiki.rows("pages"):
        rows = await wiki.rows("revisions", "version", page_id=page["id"])
        versions = [row["version"] for row in rows if not row["erased_at"]]
        async with wiki.database.connection() as connection:
            states = {state.version: state for state in await find_states(connection, wiki.scope, page["id"], versions)}
        for row in rows:
            fields = [row[name] for name in ("author_kind", "author_id", "created_at", "edit_summary", "erased_at")]
            found[page["slug"], row["version"]] = (states.get(row["version"]), *fields)
    return found


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_revisions_are_imported_unchanged(wiki: Wiki, tmp_path: Path, form: str) -> None:
    await create_revised_wiki(wiki)
    before = await histories(wiki)
    assert len(before) > 70
    await export_path(wiki.database, wiki.scope, tmp_path / form, history=True)
    copy = await wiki.neighbour()
    for _ in range(2):
        assert (await run_import(copy, tmp_path / form)).errors == ()
        assert await histories(copy) == before
    (tmp_path / "again").mkdir()
    await export_path(copy.database, copy.scope, tmp_path / "again" / form, history=True)
    first, second = tmp_path / form, tmp_path / "again" / form
    assert (read_files(second) == read_files(first)) if first.is_dir() else (second.read_bytes() == first.read_bytes())
    assert import_counts(await run_import(copy, tmp_path / form)) == (0, 0, 3, 0)
    assert len([row for row in await copy.rows("revisions") if row["base_version"]]) > 60
    assert {row["action"] for row in await copy.rows("activity", page_id=(await copy.rows("pages"))[0]["id"])} >= {
        "history.imported"
    }
    page = next(page for page in await copy.rows("pages") if page["slug"] == "bats")
    saved = await update_page(copy.database, copy.scope, page["id"], body="Anew.")
    assert saved.version == page["version"] + 1 > 70


async def test_a_file_edited_outside_adds_one_version(wiki: Wiki, tmp_path: Path) -> None:
    await create_revised_wiki(wiki)
    before = await histories(wiki)
    await export_path(wiki.database, wiki.scope, tmp_path / "x", history=True)
    file = tmp_path / "x" / "topic" / "bats.md"
    file.write_text(file.read_text() + "\nEdited outside.\n")
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / "x")).errors == ()
    after = await histories(copy)
    (added,) = after.keys() - before.keys()
    assert {key: after[key] for key in before} == before
    assert added[1] == max(version for slug, version in before if slug == "bats") + 1
    assert "Edited outside." in after[added][0].body


async def test_only_admins_may_import_the_authors_of_revisions(wiki: Wiki, tmp_path: Path) -> None:
    await create_revised_wiki(wiki)
    await export_path(wiki.database, wiki.scope, tmp_path / "x", history=True)
    copy = await wiki.neighbour(Role.MEMBER)
    result = await run_import(copy, tmp_path / "x")
    assert [error.code for error in result.errors] == ["FORBIDDEN"]
    assert import_counts(result) == (3, 0, 0, 0)
    assert {row["author_id"] for row in await copy.rows("revisions")} == {"marco"}


async def test_invalid_lines_of_a_history_are_reported(wiki: Wiki, tmp_path: Path) -> None:
    good = {
        "page": "/wiki/reference/a",
        "version": 1,
        "title": "A",
        "body": "Before.",
        "author": {"kind": "user", "id": "u"},
        "created_at": "2020-01-01",
    }
    bad = [
        1,
        {},
        good | {"version": 2**31},
        good | {"version": 0},
        good | {"author": "u"},
        good | {"author": {"kind": "god", "id": "u"}},
        good | {"body": 5},
        good | {"body": "\0"},
        good | {"body": "x" * 1_000_001},
        good | {"tags": [1]},
        good | {"metadata": []},
        good | {"created_at": "once"},
    ]
    lines = [{"revision": revision} for revision in [*bad, good | {"page": "/wiki/planet/mars"}, good]]
    lines += [{"revision": good | {"page": "/wiki/reference/b", "version": n}} for n in (1, 3)]
    text = b"".join(
        orjson.dumps(line) + b"\n" for line in [*({"title": title, "body": "Now."} for title in "AB"), *lines]
    )
    (tmp_path / "x.jsonl").write_bytes(text)
    result = await run_import(wiki, tmp_path / "x.jsonl")
    assert {error.path for error in result.errors} == {f"x.jsonl:{n}" for n in range(3, 15)} | {
        "/wiki/planet/mars",
        "/wiki/reference/b",
    }
    assert [row["version"] for row in await wiki.rows("revisions", "page_id, version")] == [1, 2, 1]
