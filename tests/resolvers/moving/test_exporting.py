"""A wiki written out and read in again is the same wiki, to the byte."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID
from zipfile import ZipFile

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from content.names import normalise
from content.notes import from_markdown
from content.sections import parse, render
from db.database import Database
from db.scope import Role, Scope
from db.shelf import Shelf
from resolvers.aliases import add_alias
from resolvers.drafts import PageDraft, SectionDraft
from resolvers.errors import BadInput, Conflict, NotFound
from resolvers.hierarchy import set_parent
from resolvers.links import link_pages
from resolvers.mentions import ignore_mention, record_mention
from resolvers.merging import merge_pages
from resolvers.moving import exporting
from resolvers.moving import paths as note_paths
from resolvers.moving.files import export_folder, export_path, export_zip
from resolvers.moving.importing import import_path
from resolvers.moving.paths import Paths, file_name, is_safe
from resolvers.owners import set_language
from resolvers.pages import archive_page, create_page, update_page
from resolvers.sources import SourceDraft, add_source, cite_source
from resolvers.states import find_states
from tests.content.test_vault import VAULT
from tests.resolvers.moving.vaults import counts, imported, run, write
from tests.wiki import Wiki, check


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


async def exported(wiki: Wiki, folder: Path) -> dict[str, bytes]:
    await export_folder(wiki.database, wiki.scope, folder)
    return files(folder)


async def a_wiki(wiki: Wiki) -> None:
    """Pages with everything that a page can have."""
    here = wiki.database, wiki.scope
    austin = await create_page(
        *here,
        PageDraft(
            type="entity",
            title="Austin, Texas",
            summary="A city:\nhot.",
            body="# Austin, Texas\n\nHot. [[Nowhere]]\n\n## Notes\n\nSee [[Travel|trips]].\n\n## Notes\n\nAgain.",
            aliases=["ATX", "a, b", "#tag"],
            tags=["city", "#1", "no"],
            metadata={
                "confidence": "high",
                "description": "its own",
                "cairn": 1,
                "status": "draft",
                "n": [1.5, None],
            },
        ),
    )
    travel = await create_page(*here, PageDraft(type="topic", title="Travel", body="To [[austin-texas]]."))
    other = await create_page(
        *here,
        PageDraft(
            type="topic",
            title="Austin Texas",
            slug="austin-texas",
            sections=[SectionDraft("Text.", "related_entities", "Other words"), SectionDraft("", "notes", "Notes")],
        ),
    )
    await set_parent(*here, austin.page_id, parent_id=travel.page_id)
    await link_pages(*here, other.page_id, austin.page_id, reason="planner")
    await link_pages(*here, travel.page_id, austin.page_id)
    first = (await add_source(*here, SourceDraft("daily_note", "memory/1.md", "One.\nTwo.", "First"))).source_id
    second = await add_source(*here, SourceDraft("daily_note", "memory/1.md", "One.\nTwo.\nThree.", metadata={"a": 1}))
    await cite_source(*here, page_id=austin.page_id, section_slug="notes", source_id=first, line_start=1, line_end=2)
    await cite_source(*here, page_id=austin.page_id, section_slug="notes_2", source_id=second.source_id, summary="Why")
    await update_page(*here, other.page_id, slug="austin", title="Austin")
    await add_alias(*here, travel.page_id, name="Journeys")
    await archive_page(*here, travel.page_id)
    third = (await add_source(*here, SourceDraft("url", "https://a.example", "Barton Springs."))).source_id
    await record_mention(*here, name="Barton Springs", source_id=first, quote="at Barton Springs")
    await record_mention(*here, name="barton springs", source_id=second.source_id, quote="to Barton Springs")
    await record_mention(*here, name="Barton  Springs", source_id=third, suggested_type="entity")
    ignored = await record_mention(*here, name="One", source_id=third, quote="One.")
    await ignore_mention(*here, ignored.mention_id)


async def test_a_wiki_comes_back_to_the_byte(wiki: Wiki, tmp_path: Path) -> None:
    await a_wiki(wiki)
    first = await exported(wiki, tmp_path / "first")
    assert set(first) == {
        ".cairn/files", ".cairn/mentions.jsonl", ".cairn/sources.jsonl", ".cairn/wiki.json",
        "entity/austin-texas.md", "topic/austin.md",
        "topic/travel.md",
    }  # fmt: skip
    copy = await wiki.neighbour()
    result = await run(copy, tmp_path / "first")
    assert result.errors == ()
    assert (*counts(result), result.sources) == (3, 0, 0, 0, 3)
    await check(copy)
    assert await exported(copy, tmp_path / "second") == first
    assert counts(await run(copy, tmp_path / "first")) == (0, 0, 3, 0)
    assert await exported(copy, tmp_path / "second") == first


async def held(wiki: Wiki) -> dict[str, tuple[Any, ...]]:
    return {
        row["name"]: (
            row["status"],
            row["mention_count"],
            row["suggested_type"],
            row["first_seen_at"],
            row["last_seen_at"],
            [context["quote"] for context in row["contexts"]],
        )
        for row in await wiki.rows("mentions")
    }


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_names_that_are_held_come_back(wiki: Wiki, tmp_path: Path, form: str) -> None:
    await a_wiki(wiki)
    before = await held(wiki)
    assert [facts[:3] for facts in before.values()] == [("open", 2, "entity"), ("ignored", 1, None)]
    await export_path(wiki.database, wiki.scope, tmp_path / form)
    copy = await wiki.neighbour()
    for _ in range(2):
        assert (await run(copy, tmp_path / form)).errors == ()
        assert await held(copy) == before
    assert len(await copy.rows("activity", action="mention.recorded")) == 1
    for sightings in await wiki.rows("sightings", "1"), await copy.rows("sightings", "1"):
        assert len(sightings) == 3


async def test_a_name_of_many_sources_has_several_lines(
    wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "SIGHTINGS_AT_ONCE", 2)
    for n in range(5):
        source = await wiki.add_source(ref=f"doc-{n}")
        await record_mention(wiki.database, wiki.scope, name="Ada", source_id=source, quote=f"Ada {n}")
    before = await held(wiki)
    first = await exported(wiki, tmp_path / "first")
    assert len(first[".cairn/mentions.jsonl"].splitlines()) == 3
    copy = await wiki.neighbour()
    assert (await run(copy, tmp_path / "first")).errors == ()
    assert await held(copy) == before
    assert await exported(copy, tmp_path / "second") == first


async def test_a_name_joins_those_of_the_wiki_it_comes_to(wiki: Wiki, tmp_path: Path) -> None:
    """Sources count once; a name that was open there is ignored after; one of no known source is told."""
    here = wiki.database, wiki.scope
    await record_mention(*here, name="Ada", source_id=await wiki.add_source())
    source = {"kind": "document", "ref": "doc-2", "content": "Ada."}
    seen = [{"kind": "document", "ref": ref} for ref in ("doc-1", "doc-2")]
    lines = [
        {"source": source},
        {"mention": {"name": "ADA", "sightings": seen}},
        {"mention": {"name": "ada", "status": "ignored"}},
        {"mention": {"name": "Bo", "sightings": [{"kind": "document", "ref": "gone"}]}},
        {"mention": {"name": "!", "sightings": seen}},
        {"mention": {"name": "Cy", "status": "promoted"}},
        {"mention": {"name": "Cy", "sightings": [1]}},
        {"mention": {"name": "Cy", "suggested_type": "planet"}},
        {"mention": {"name": "Cy", "first_seen_at": "once"}},
    ]
    (tmp_path / "x.jsonl").write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in lines))
    result = await run(wiki, tmp_path / "x.jsonl")
    assert {one.path for one in result.errors} == {f"x.jsonl:{n}" for n in range(4, 10)}
    (row,) = await wiki.rows("mentions")
    assert (row["name"], row["status"], row["mention_count"]) == ("Ada", "ignored", 2)


async def test_lines_come_back_to_the_byte(wiki: Wiki, tmp_path: Path) -> None:
    await a_wiki(wiki)
    await export_path(wiki.database, wiki.scope, tmp_path / "one.jsonl")
    copy = await wiki.neighbour()
    assert (await run(copy, tmp_path / "one.jsonl")).errors == ()
    await export_path(copy.database, copy.scope, tmp_path / "two.jsonl")
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_reasons_and_language_come_back(wiki: Wiki, tmp_path: Path, form: str) -> None:
    await a_wiki(wiki)
    await set_language(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, "german")
    pages = {page["title"]: page["id"] for page in await wiki.rows("pages")}
    for reason in ("import", "because"):
        await link_pages(wiki.database, wiki.scope, pages["Austin"], pages["Austin, Texas"], reason=reason)
    await export_path(wiki.database, wiki.scope, tmp_path / form)
    copy = await wiki.neighbour()
    assert (await run(copy, tmp_path / form)).errors == ()
    assert await reasons(copy) == await reasons(wiki)
    assert {"planner", "because", "import"} in (await reasons(copy)).values()
    (tmp_path / "again").mkdir()
    await export_path(copy.database, copy.scope, tmp_path / "again" / form)
    first, second = tmp_path / form, tmp_path / "again" / form
    if first.is_dir():
        assert files(second) == files(first)
        assert b"german" in files(first)[".cairn/wiki.json"]
    else:
        assert second.read_bytes() == first.read_bytes()
    assert (await wiki.look.fetchval("SELECT language FROM owners WHERE id = $1", copy.scope.owner_id)) == "german"
    result = await run(copy, tmp_path / form)
    assert counts(result) == (0, 0, 3, 0)


async def reasons(wiki: Wiki) -> dict[tuple[str, str], set[str]]:
    titles = {page["id"]: page["title"] for page in await wiki.rows("pages")}
    return {(titles[one], titles[other]): found for (one, other), found in (await wiki.references()).items()}


async def test_a_wiki_that_has_pages_keeps_its_language(wiki: Wiki, tmp_path: Path) -> None:
    await imported(wiki, tmp_path / "own", {"a.md": "A."})
    write(tmp_path / "german", {".cairn/wiki.json": '{"language": "german"}', "b.md": "B."})
    write(tmp_path / "elvish", {".cairn/wiki.json": '{"language": "elvish"}', "b.md": "B."})
    assert (await run(wiki, tmp_path / "german")).errors == ()
    assert (await wiki.look.fetchval("SELECT language FROM owners WHERE id = $1", wiki.scope.owner_id)) == "english"
    (told,) = (await run(await wiki.neighbour(), tmp_path / "elvish")).errors
    assert told.path == ".cairn/wiki.json"


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_a_wiki_is_not_changed_by_its_own_export(wiki: Wiki, tmp_path: Path, form: str) -> None:
    """Pages that came from no file do not come to be from one, nor do those that came from one forget it."""
    await a_wiki(wiki)
    await imported(wiki, tmp_path / "vault", {"Plugins/Templates.md": "One. [[Austin]]"})
    before = await wiki.rows("pages")
    await export_path(wiki.database, wiki.scope, tmp_path / form)
    assert counts(await run(wiki, tmp_path / form)) == (0, 0, 4, 0)
    assert await wiki.rows("pages") == before


async def test_lines_keep_where_the_files_lay(wiki: Wiki, tmp_path: Path) -> None:
    write(tmp_path / "vault", {"Plugins/Templates.md": "One.", "Clipper/Templates.md": "Two. [[Plugins/Templates]]"})
    await run(wiki, tmp_path / "vault")
    folder = await exported(wiki, tmp_path / "folder")
    await export_path(wiki.database, wiki.scope, tmp_path / "lines.jsonl")
    copy = await wiki.neighbour()
    await run(copy, tmp_path / "lines.jsonl")
    assert "Plugins/Templates.md" in folder
    assert await exported(copy, tmp_path / "again") == folder


async def test_a_zip_is_the_folder(wiki: Wiki, tmp_path: Path) -> None:
    await a_wiki(wiki)
    folder = await exported(wiki, tmp_path / "folder")
    await export_path(wiki.database, wiki.scope, tmp_path / "wiki.zip")
    with ZipFile(tmp_path / "wiki.zip") as zip:
        assert {name: zip.read(name) for name in zip.namelist()} == {
            name: data for name, data in folder.items() if name != ".cairn/files"
        }
    copy = await wiki.neighbour()
    assert (await run(copy, tmp_path / "wiki.zip")).errors == ()
    file = BytesIO()
    await export_zip(copy.database, copy.scope, file)
    assert file.getvalue() == (tmp_path / "wiki.zip").read_bytes()


async def test_a_vault_keeps_the_text_of_every_note(wiki: Wiki, tmp_path: Path) -> None:
    if not VAULT.is_dir():
        pytest.skip("the vault is not here")
    await run(wiki, VAULT)
    first = await exported(wiki, tmp_path / "first")
    notes = {path.relative_to(VAULT).as_posix(): path for path in VAULT.rglob("*.md")}
    assert {name for name in first if not name.startswith(".cairn")} == set(notes)
    for name, path in notes.items():
        before = from_markdown(path.stem, path.read_text(encoding="utf-8"))
        after = from_markdown(path.stem, first[name].decode())
        assert words(after.body) == words(render(parse(before.body))), name
        assert (after.title, after.tags) == (before.title, before.tags)
        assert {normalise(alias) for alias in before.aliases} <= {
            normalise(after.title),
            *map(normalise, after.aliases),
        }
    copy = await wiki.neighbour()
    assert (await run(copy, tmp_path / "first")).errors == ()
    assert await exported(copy, tmp_path / "second") == first


def words(text: str) -> list[str]:
    """Without the targets of links: a name that several notes go by is spelled as the slug of the one that it means."""
    return re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]", r"\1", re.sub(r"!\[\[[^\[\]]*\]\]", "!", text)).split()


async def test_dates_of_files_are_kept(wiki: Wiki, tmp_path: Path) -> None:
    await imported(
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


async def test_a_page_that_was_changed_here_keeps_the_date_of_the_change(wiki: Wiki, tmp_path: Path) -> None:
    await imported(wiki, tmp_path, {"old.md": "---\nupdated: 2021-02-03\n---\nOld."})
    page = (await wiki.rows("pages"))[0]
    await update_page(wiki.database, wiki.scope, page["id"], body="New.")
    changed = (await wiki.page(page["id"]))["updated_at"]
    assert changed > datetime(2026, 1, 1, tzinfo=UTC)
    await imported(wiki, tmp_path, {"other.md": "---\nupdated: 2021-02-03\n---\nOld."})
    assert (await wiki.page(page["id"]))["updated_at"] >= changed


async def test_a_stub_that_redirects_is_a_former_name(wiki: Wiki, tmp_path: Path) -> None:
    result = await imported(
        wiki,
        tmp_path,
        {
            "auth.md": "---\nslug: auth\nredirectTo: auth-middleware\n---\n",
            "auth-middleware.md": "Text.",
            "user.md": "See [[auth]].",
            "lost.md": "---\nredirectTo: nowhere\n---\n",
        },
    )
    assert counts(result) == (2, 0, 0, 0)
    assert result.broken_links == 1
    (old,) = await wiki.rows("old_slugs", "slug")
    assert old["slug"] == "auth"
    assert len(await wiki.references()) == 1
    await check(wiki)


async def test_an_export_again_touches_only_what_changed(wiki: Wiki, tmp_path: Path) -> None:
    await a_wiki(wiki)
    folder = tmp_path / "wiki"
    await exported(wiki, folder)
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))
    (folder / "mine.txt").write_text("not an export's")
    pages = {page["slug"]: page["id"] for page in await wiki.rows("pages")}
    await update_page(wiki.database, wiki.scope, pages["austin"], slug="austin-city")
    await exported(wiki, folder)
    assert not (folder / "topic" / "austin.md").exists()
    assert (folder / "mine.txt").exists()
    fresh = {path.name for path in folder.rglob("*") if path.is_file() and path.stat().st_mtime > 1}
    assert fresh == {"austin-city.md", "files", "mine.txt"}


async def test_a_folder_of_something_else_is_left_alone(wiki: Wiki, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Mine.")
    with pytest.raises(BadInput, match="new or empty"):
        await export_folder(wiki.database, wiki.scope, tmp_path)
    with pytest.raises(BadInput, match="is a file"):
        await export_folder(wiki.database, wiki.scope, tmp_path / "notes.md")
    with pytest.raises(BadInput, match="cannot be written"):
        await export_path(wiki.database, wiki.scope, tmp_path / "gone" / "wiki.zip")
    assert files(tmp_path) == {"notes.md": b"Mine."}


async def test_a_path_that_somebody_wrote_into_the_metadata_leads_nowhere(wiki: Wiki, tmp_path: Path) -> None:
    for n, origin in enumerate(["../out.md", "/etc/out.md", "a/../../out.md", ".git/hooks.md", "x.sh", "C:\\a.md", 5]):
        draft = PageDraft("topic", f"Page {n}", body="Text.", metadata={"imported_from": origin})
        await create_page(wiki.database, wiki.scope, draft)
    found = await exported(wiki, tmp_path / "folder")
    assert {name for name in found if not name.startswith(".cairn")} == {f"topic/page-{n}.md" for n in range(7)}
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


async def test_who_may_not_read_gets_nothing(wiki: Wiki, tmp_path: Path) -> None:
    stranger = await wiki.neighbour(Role.MEMBER)
    with pytest.raises(NotFound):
        await export_folder(wiki.database, stranger.scope.in_owner(wiki.scope.owner_id), tmp_path / "out")


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=60)), max_size=8))
def test_every_path_is_safe_and_taken_once(wanted: list[tuple[str, str]]) -> None:
    with Shelf() as shelf:
        paths = Paths(shelf)
        taken = [paths.take("topic", slug or "x", origin) for slug, origin in wanted if "/" not in slug]
    assert len({path.casefold() for path in taken}) == len(taken)


@pytest.mark.parametrize("path", ["a.md", "b/c.MD", "Ä ö/日本.markdown"])
def test_a_path_of_a_vault_is_kept(path: str) -> None:
    assert is_safe(path)
    with Shelf() as shelf:
        assert Paths(shelf).take("topic", "x", path) == path


def a_zip(path: Path, entries: Mapping[str, bytes]) -> Path:
    with ZipFile(path, "w") as zip:
        for name, data in entries.items():
            zip.writestr(name, data)
    return path


async def test_a_hostile_zip_is_refused_in_parts(wiki: Wiki, tmp_path: Path) -> None:
    path = a_zip(
        tmp_path / "bad.zip",
        {"good.md": b"Good.", "../out.md": b"Out.", "/abs.md": b"Abs.", "a\\..\\b.md": b"B.", "c/../../d.md": b"D.",
         "huge.md": b"x" * 8_000_001, ".hidden.md": b"H", "picture.png": b"P"},
    )  # fmt: skip
    result = await run(wiki, path)
    assert counts(result)[0] == 1
    assert {problem.path for problem in result.errors} == {
        "../out.md", "/abs.md", "a\\..\\b.md", "c/../../d.md", "huge.md",
    }  # fmt: skip
    assert [page["title"] for page in await wiki.rows("pages")] == ["good"]


async def test_a_zip_that_grows_without_end_is_refused(
    wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from resolvers.moving import archives as note_archives

    monkeypatch.setattr(note_archives, "BYTES_MAX", 100_000)
    path = tmp_path / "bomb.zip"
    with ZipFile(path, "w", 8) as zip:
        for n in range(10):
            zip.writestr(f"{n}.md", b"x" * 50_000)
    with pytest.raises(Exception, match="unpacks to more than"):
        await run(wiki, path)
    assert await wiki.rows("pages") == []


async def test_what_is_no_zip_is_told(wiki: Wiki, tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"PK no")
    with pytest.raises(BadInput, match="no zip"):
        await run(wiki, tmp_path / "no.zip")


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
ODD = st.sampled_from(
    [
        "Cafe",
        "cafe",
        "CAFE",
        "Caf\u00e9",
        "Cafe\u0301",
        "CON",
        "a/b",
        "..",
        "no",
        "1.10",
        "- x",
        "#x",
        "\u2028x",
        "x.md",
    ]
)
BODY = st.sampled_from(
    [
        "## A\n\nb\n\n## A\n\n[[c]]",
        "one\r\ntwo\r\n",
        "---\na: b\n---\n",
        "\ufeffmarked",
        "\n\n  \nx  \n",
        "e\u0301 \u00e9",
        "[[Cafe]] [[cafe|x]]",
    ]
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
async def test_any_wiki_comes_back(wiki: Wiki, tmp_path: Path, data: st.DataObject) -> None:
    """As a folder, a zip or lines, with its history or without: names that differ in case or normal form alone, names
    that are held, pages archived, renamed, merged."""
    start = await wiki.neighbour()
    await any_wiki(start, data)
    form = data.draw(st.sampled_from(["folder", "wiki.zip", "wiki.jsonl"]))
    first, second = (tmp_path / f"{start.scope.owner_id}-{n}-{form}" for n in (1, 2))
    told = data.draw(st.booleans())
    pages = (await export_path(start.database, start.scope, first, history=told)).pages
    assert counts(await run(start, first)) == (0, 0, pages, 0)
    copy = await start.neighbour()
    assert (await run(copy, first)).errors == ()
    assert counts(await run(copy, first)) == (0, 0, pages, 0)
    await export_path(copy.database, copy.scope, second, history=told)
    if form == "folder":
        assert files(second) == files(first)
    else:
        assert second.read_bytes() == first.read_bytes()


async def any_wiki(start: Wiki, data: st.DataObject) -> None:
    here, ids = (start.database, start.scope), []
    for title in data.draw(st.lists((TEXT | ODD).filter(lambda title: title.strip()), min_size=1, max_size=4)):
        draft = PageDraft(
            type=data.draw(st.sampled_from(["entity", "topic"])),
            title=title,
            summary=data.draw(st.none() | TEXT),
            body=data.draw(TEXT | BODY | st.just("# " + title)),
            aliases=data.draw(st.lists(TEXT | ODD, max_size=2)),
            tags=data.draw(st.none() | st.lists(TEXT | ODD, max_size=2)),
            metadata=data.draw(st.dictionaries(TEXT | st.just("title"), TEXT | ODD, max_size=2)),
        )
        with suppress(BadInput, Conflict):
            ids.append((await create_page(*here, draft)).page_id)
    source = await start.add_source()
    for name in data.draw(st.lists((TEXT | ODD), max_size=3)):
        with suppress(BadInput):
            quote = data.draw(st.none() | TEXT)
            mention = await record_mention(*here, name=name, source_id=source, quote=quote)
            if data.draw(st.booleans()):
                await ignore_mention(*here, mention.mention_id)
    for change in data.draw(st.lists(st.sampled_from(["archive", "rename", "parent", "link", "merge"]), max_size=3)):
        one, other = (data.draw(st.sampled_from(ids)), data.draw(st.sampled_from(ids))) if ids else (None, None)
        with suppress(BadInput, Conflict, NotFound):
            if one and other:
                await changed(here, change, one, other)


async def changed(here: tuple[Database, Scope], change: str, one: UUID, other: UUID) -> None:
    if change == "archive":
        await archive_page(*here, one)
    elif change == "rename":
        await update_page(*here, one, slug=f"renamed-{one.hex[-6:]}")
    elif change == "parent":
        await set_parent(*here, one, parent_id=other)
    elif change == "link":
        await link_pages(*here, one, other, reason="because")
    else:
        await merge_pages(*here, one, other)


async def test_progress_is_told(wiki: Wiki, tmp_path: Path) -> None:
    await a_wiki(wiki)
    heard = []
    await export_folder(wiki.database, wiki.scope, tmp_path / "x", report=lambda *step: heard.append(step))
    assert heard == [("Writing", 0, 3, "entity/austin-texas.md")]


async def test_an_export_is_imported_by_anybody(wiki: Wiki, tmp_path: Path) -> None:
    """A folder that says of itself that it is an export is read as strictly as any other."""
    write(tmp_path, {".cairn/wiki.json": "{}", ".cairn/sources.jsonl": '{"kind": 1}\nno\n', "a.md": "A."})
    result = await import_path(wiki.database, wiki.scope, tmp_path)
    assert counts(result) == (1, 0, 0, 2)
    assert orjson.dumps([problem.path for problem in result.errors]) == b'["sources.jsonl:1","sources.jsonl:2"]'


def test_a_path_is_found_at_once_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page looks at names that it does not need."""
    looked: list[str] = []

    def watched(slug: str) -> str:
        looked.append(slug)
        return file_name(slug)

    monkeypatch.setattr(note_paths, "file_name", watched)
    with Shelf() as shelf:
        paths = Paths(shelf)
        assert [paths.take("topic", f"page-{n}") for n in range(500)][-1] == "topic/page-499.md"
        assert paths.take("topic", "Page-7") == "topic/Page-7.2.md"
    assert len(looked) == 501


async def revised(wiki: Wiki) -> None:
    """Pages with a past: many small edits, a rename, names and metadata that came later, a state that was erased."""
    await a_wiki(wiki)
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
    await wiki.look.execute(f"UPDATE revisions SET {erased} WHERE page_id = $1 AND version = 1", pages["travel"])


async def histories(wiki: Wiki) -> dict[tuple[str, int], tuple[Any, ...]]:
    """What the states of all pages are, by slug and version, but for their ids."""
    found = {}
    for page in await wiki.rows("pages"):
        rows = await wiki.rows("revisions", "version", page_id=page["id"])
        versions = [row["version"] for row in rows if not row["erased_at"]]
        async with wiki.database.connection() as connection:
            states = {one.version: one for one in await find_states(connection, wiki.scope, page["id"], versions)}
        for row in rows:
            told = [row[name] for name in ("author_kind", "author_id", "created_at", "edit_summary", "erased_at")]
            found[page["slug"], row["version"]] = (states.get(row["version"]), *told)
    return found


@pytest.mark.parametrize("form", ["folder", "wiki.zip", "wiki.jsonl"])
async def test_histories_come_back(wiki: Wiki, tmp_path: Path, form: str) -> None:
    await revised(wiki)
    before = await histories(wiki)
    assert len(before) > 70
    await export_path(wiki.database, wiki.scope, tmp_path / form, history=True)
    copy = await wiki.neighbour()
    for _ in range(2):
        assert (await run(copy, tmp_path / form)).errors == ()
        assert await histories(copy) == before
    (tmp_path / "again").mkdir()
    await export_path(copy.database, copy.scope, tmp_path / "again" / form, history=True)
    first, second = tmp_path / form, tmp_path / "again" / form
    assert (files(second) == files(first)) if first.is_dir() else (second.read_bytes() == first.read_bytes())
    assert counts(await run(copy, tmp_path / form)) == (0, 0, 3, 0)
    assert len([row for row in await copy.rows("revisions") if row["base_version"]]) > 60
    assert {row["action"] for row in await copy.rows("activity", page_id=(await copy.rows("pages"))[0]["id"])} >= {
        "history.imported"
    }
    page = next(page for page in await copy.rows("pages") if page["slug"] == "bats")
    saved = await update_page(copy.database, copy.scope, page["id"], body="Anew.")
    assert saved.version == page["version"] + 1 > 70


async def test_a_file_that_was_edited_is_a_version_more(wiki: Wiki, tmp_path: Path) -> None:
    await revised(wiki)
    before = await histories(wiki)
    await export_path(wiki.database, wiki.scope, tmp_path / "x", history=True)
    file = tmp_path / "x" / "topic" / "bats.md"
    file.write_text(file.read_text() + "\nEdited outside.\n")
    copy = await wiki.neighbour()
    assert (await run(copy, tmp_path / "x")).errors == ()
    after = await histories(copy)
    (added,) = after.keys() - before.keys()
    assert {key: after[key] for key in before} == before
    assert added[1] == max(version for slug, version in before if slug == "bats") + 1
    assert after[added][0].body.endswith("Edited outside.\n") or "Edited outside." in after[added][0].body


async def test_only_admins_say_who_wrote_what(wiki: Wiki, tmp_path: Path) -> None:
    await revised(wiki)
    await export_path(wiki.database, wiki.scope, tmp_path / "x", history=True)
    copy = await wiki.neighbour(Role.MEMBER)
    result = await run(copy, tmp_path / "x")
    assert [error.code for error in result.errors] == ["FORBIDDEN"]
    assert counts(result) == (3, 0, 0, 0)
    assert {row["author_id"] for row in await copy.rows("revisions")} == {"marco"}


async def test_a_history_is_read_as_strictly_as_anything(wiki: Wiki, tmp_path: Path) -> None:
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
    lines = [{"revision": one} for one in [*bad, good | {"page": "/wiki/planet/mars"}, good]]
    lines += [{"revision": good | {"page": "/wiki/reference/b", "version": n}} for n in (1, 3)]
    text = b"".join(
        orjson.dumps(one) + b"\n" for one in [*({"title": title, "body": "Now."} for title in "AB"), *lines]
    )
    (tmp_path / "x.jsonl").write_bytes(text)
    result = await run(wiki, tmp_path / "x.jsonl")
    assert {one.path for one in result.errors} == {f"x.jsonl:{n}" for n in range(3, 15)} | {
        "/wiki/planet/mars",
        "/wiki/reference/b",
    }
    assert [row["version"] for row in await wiki.rows("revisions", "page_id, version")] == [1, 2, 1]
