"""Relations of files to missing pages: stored, resolved when the page is created, and exported."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from content.markdown.citations import CitationMark
from content.notes.notes import Note, from_markdown
from db.ids import new_id
from resolvers.import_export.citations import SourceIds
from resolvers.import_export.export_files import export_folder
from resolvers.import_export.importing import import_path
from resolvers.import_export.results import ImportResult
from resolvers.links.links import unlink_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import create_page, delete_page, update_page
from resolvers.sources.sources import cite_source
from tests.growth import assert_linear_time
from tests.recording_database import recording_database
from tests.resolvers.import_export.vaults import import_counts, import_files, run_import
from tests.wiki import Wiki, check_derived_rows

NOTES = {
    "trip.md": "---\nrelated: [Barton Springs]\nparent: Austin\n---\n\nA trip.\n",
    "old-trip.md": "---\nslug: old-trip\nredirectTo: Newest trip\n---\n",
}


async def relations(wiki: Wiki) -> tuple[dict[tuple[str, str], set[str]], dict[str, str | None]]:
    """Return the references between pages by slug, and the slug of the parent of each page."""
    slugs = {row["id"]: row["slug"] for row in await wiki.rows("pages")}
    parents = {row["slug"]: slugs.get(row["parent_page_id"]) for row in await wiki.rows("pages")}
    found = {(slugs[a], slugs[b]): reasons for (a, b), reasons in (await wiki.references()).items()}
    return found, parents


async def former_slugs(wiki: Wiki) -> dict[str, str]:
    slugs = {row["id"]: row["slug"] for row in await wiki.rows("pages")}
    return {row["slug"]: slugs[row["page_id"]] for row in await wiki.rows("old_slugs", "slug")}


def warnings(result: ImportResult) -> list[tuple[str, str]]:
    return [(warning.path, warning.message.partition(";")[0]) for warning in result.warnings]


async def test_a_relation_to_a_missing_page_is_reported_with_its_file(wiki: Wiki, tmp_path: Path) -> None:
    result = await import_files(wiki, tmp_path, NOTES)
    assert (result.created, result.broken_links, result.errors) == (1, 3, ())
    assert warnings(result) == [
        ("trip.md", 'parent: no page answers to "Austin" yet'),
        ("trip.md", 'related: no page answers to "Barton Springs" yet'),
        ("old-trip.md", 'redirectTo: no page answers to "Newest trip" yet'),
    ]
    again = await run_import(wiki, tmp_path)
    assert (again.unchanged, again.broken_links, warnings(again)) == (1, 3, warnings(result))


async def test_a_note_with_a_longer_name_than_any_page_has_is_reported_with_its_file(
    wiki: Wiki, tmp_path: Path
) -> None:
    """The names hardly repeat themselves, so that Postgres could not even compress them into its indexes."""
    long = "".join(Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=6_000))
    files = {
        "parent.md": f"---\nparent: {long}\n---\n",
        "related.md": f"---\nrelated: [Good, {long}]\n---\n",
        "redirect.md": f"---\nredirectTo: {long}\n---\n",
        "slug.md": f"---\nslug: {long}\nredirectTo: Other\n---\n",
        "good.md": "Good.",
    }
    result = await import_files(wiki, tmp_path, files)
    assert import_counts(result) == (1, 0, 0, 4)
    assert {error.path for error in result.errors} == files.keys() - {"good.md"}


async def test_the_text_of_a_redirecting_file_is_reported_as_left_out(wiki: Wiki, tmp_path: Path) -> None:
    files = {
        "Newest trip.md": "A trip.\n",
        "old.md": "---\nredirectTo: Newest trip\n---\n\nWhat it said.\n",
        "older.md": "---\nslug: older\nredirectTo: Newest trip\n---\n\n",
    }
    result = await import_files(wiki, tmp_path, files)
    (warning,) = result.warnings
    assert (warning.path, warning.code) == ("old.md", "TEXT_LEFT_OUT")
    assert warning.message.startswith("its text was left out, because a file with redirectTo is no page")
    assert (result.created, result.errors, await former_slugs(wiki)) == (
        1,
        (),
        {"old": "newest-trip", "older": "newest-trip"},
    )


@pytest.mark.parametrize("way", ["creation", "rename", "alias", "import"])
async def test_relations_resolve_when_the_missing_page_appears(wiki: Wiki, tmp_path: Path, way: str) -> None:
    where = wiki.database, wiki.scope
    await import_files(wiki, tmp_path / "first", NOTES)
    for title in ("Barton Springs", "Austin", "Newest trip"):
        if way == "import":
            await import_files(wiki, tmp_path / title, {f"{title}.md": f"About {title}.\n"})
        elif way == "creation":
            await create_page(*where, PageDraft("entity", title))
        else:
            page = await create_page(*where, PageDraft("entity", f"Once {title}"))
            await (
                update_page(*where, page.page_id, title=title)
                if way == "rename"
                else add_alias(*where, page.page_id, name=title)
            )
    found, parents = await relations(wiki)
    named = {"alias": "once-", "rename": "once-"}.get(way, "")
    assert found == {("trip", f"{named}barton-springs"): {"import"}}
    assert parents["trip"] == f"{named}austin"
    assert (await former_slugs(wiki))["old-trip"] == f"{named}newest-trip"
    assert await wiki.rows("redirects", "slug") == []
    assert (await run_import(wiki, tmp_path / "first")).warnings == ()
    await check_derived_rows(wiki)


async def test_chained_redirects_resolve_when_their_target_is_created(wiki: Wiki, tmp_path: Path) -> None:
    stubs = {
        f"{slug}.md": f"---\nslug: {slug}\nredirectTo: {to}\n---\n" for slug, to in [("a", "b"), ("b", "c"), ("d", "a")]
    }
    await import_files(wiki, tmp_path, stubs | {"z.md": "Z.\n"})
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "C"))
    assert await former_slugs(wiki) == {"a": "c", "b": "c", "d": "c"}
    assert await wiki.rows("redirects", "slug") == []
    await check_derived_rows(wiki)


async def test_files_that_name_each_other_as_parents_make_no_cycle(wiki: Wiki, tmp_path: Path) -> None:
    for name, parent in (("a", "b"), ("b", "c"), ("c", "a")):
        await import_files(wiki, tmp_path / name, {f"{name}.md": f"---\nparent: {parent}\n---\n\nText.\n"})
    _, parents = await relations(wiki)
    assert sorted(parents.items()) == [("a", "b"), ("b", "c"), ("c", None)]
    await check_derived_rows(wiki)


async def test_a_relation_to_a_deleted_page_resolves_to_a_new_page(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, NOTES)
    where = wiki.database, wiki.scope
    for title in ("Barton Springs", "Austin"):
        page = await create_page(*where, PageDraft("entity", title))
        found, parents = await relations(wiki)
        assert ("trip", page_slug := title.lower().replace(" ", "-")) in found or parents["trip"] == page_slug
        await delete_page(*where, page.page_id)
    assert await relations(wiki) == ({}, {"trip": None})
    for title in ("Barton Springs", "Austin"):
        await create_page(*where, PageDraft("topic", title))
    found, parents = await relations(wiki)
    assert found == {("trip", "barton-springs"): {"import"}}
    assert parents["trip"] == "austin"
    await check_derived_rows(wiki)


async def test_a_relation_of_a_hidden_page_resolves_to_the_page_of_somebody_who_does_not_see_it(
    wiki: Wiki, tmp_path: Path
) -> None:
    secret = {"trip.md": "---\nrelated: [Barton Springs]\nparent: Austin\nsensitivity: secret\n---\n\nA trip.\n"}
    await import_files(wiki, tmp_path, secret)
    other = await wiki.colleague()
    for title in ("Barton Springs", "Austin"):
        await create_page(other.database, other.scope, PageDraft("topic", title))
    found, parents = await relations(wiki)
    assert (found, parents["trip"]) == ({("trip", "barton-springs"): {"import"}}, "austin")


async def test_a_relation_removed_by_a_person_is_not_restored_by_a_rename(wiki: Wiki, tmp_path: Path) -> None:
    where = wiki.database, wiki.scope
    await import_files(wiki, tmp_path, NOTES)
    (trip,) = await wiki.rows("pages")
    springs, austin = [await create_page(*where, PageDraft("entity", title)) for title in ("Barton Springs", "Austin")]
    await unlink_pages(*where, trip["id"], springs.page_id, reason="import")
    await set_parent(*where, trip["id"], parent_id=None)
    for page in (springs, austin):
        await update_page(*where, page.page_id, title="Another")
        await update_page(*where, page.page_id, title="Barton Springs" if page is springs else "Austin")
    assert await relations(wiki) == ({}, {"trip": None, "barton-springs": None, "austin": None})


async def test_a_relation_left_out_of_the_related_pages_is_not_restored_by_a_new_page(
    wiki: Wiki, tmp_path: Path
) -> None:
    where = wiki.database, wiki.scope
    await import_files(wiki, tmp_path, NOTES)
    (trip,) = await wiki.rows("pages")
    springs = await create_page(*where, PageDraft("entity", "Barton Springs"))
    await update_page(*where, trip["id"], related=[])
    await delete_page(*where, springs.page_id)
    await create_page(*where, PageDraft("entity", "Barton Springs"))
    assert (await relations(wiki))[0] == {}


async def test_a_relation_removed_from_a_file_is_no_longer_reported(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path, NOTES)
    result = await import_files(wiki, tmp_path, {"trip.md": "A trip.\n"})
    assert warnings(result) == [("old-trip.md", 'redirectTo: no page answers to "Newest trip" yet')]
    assert await wiki.rows("link_targets", "target") == []


async def test_an_export_includes_relations_to_missing_pages(wiki: Wiki, tmp_path: Path) -> None:
    await import_files(wiki, tmp_path / "notes", NOTES | {"b.md": "---\nrelated: ['A, b', '[[Nowhere]]']\n---\n\nB.\n"})
    await export_folder(wiki.database, wiki.scope, tmp_path / "out")
    neighbour = await wiki.neighbour()
    result = await run_import(neighbour, tmp_path / "out")
    assert sorted(name for _, name in warnings(result)) == [
        'parent: no page answers to "Austin" yet',
        'redirectTo: no page answers to "Newest trip" yet',
        'related: no page answers to "A, b" yet',
        'related: no page answers to "Barton Springs" yet',
        'related: no page answers to "Nowhere" yet',
    ]
    await create_page(neighbour.database, neighbour.scope, PageDraft("topic", "Newest trip"))
    assert (await former_slugs(neighbour))["old-trip"] == "newest-trip"


@pytest.mark.parametrize("section", ["notes", None])
def test_missing_citations_are_found_in_linear_time(section: str | None) -> None:
    rows = [{"kind": "document", "ref": f"doc-{n}", "version": 1, "id": new_id()} for n in range(4_000)]
    ids = SourceIds(rows)

    def note(size: int) -> Note:
        marks = tuple(CitationMark(f"doc-{n}", "document", section) for n in range(size))
        return replace(from_markdown("a", "Text. " * size), sources=marks)

    assert_linear_time(note, ids.uncited, 4_000)


async def test_an_import_does_not_write_existing_citations_again(wiki: Wiki, dsn: str, tmp_path: Path) -> None:
    """Each citation that is written takes a transaction, and a page may have thousands."""
    page_id = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", body="Text."))).page_id
    sources = [await wiki.add_source(ref=f"doc-{n}") for n in range(4)]

    async def cite(n: int, line_start: int | None, line_end: int | None, summary: str | None) -> None:
        await cite_source(
            *(wiki.database, wiki.scope), page_id=page_id, section_slug="overview", source_id=sources[n],
            line_start=line_start, line_end=line_end, summary=summary,
        )  # fmt: skip

    await cite(0, None, None, None)
    await cite(1, 1, None, "It says one.")
    await cite(2, 1, 2, None)
    await cite(3, None, None, "It says two.")
    await export_folder(wiki.database, wiki.scope, tmp_path)
    before = await wiki.rows("section_sources")
    async with recording_database(dsn) as database:

        async def written() -> int:
            (await database.sent_statements()).clear()
            assert (await import_path(database, wiki.scope, tmp_path)).errors == ()
            return sum("INSERT INTO section_sources" in sent.sql for sent in await database.sent_statements())

        assert await written() == 0
        await cite(1, 2, 2, "It says one.")
        await cite(2, 1, 1, None)
        await cite(3, None, None, "It says three.")
        assert await written() == 3
        assert await wiki.rows("section_sources") == before


LEDGER = """---
supersedes:
  - source: memory/2026-01-10.md
    fact: "Initial choice was Postgres"
    supersededOn: 2026-01-30
---
MySQL. Chosen over Postgres on 2026-01-30 for write throughput.
"""


async def test_former_claims_in_the_frontmatter_are_superseded_claims(wiki: Wiki, tmp_path: Path) -> None:
    """They are stored once, with their source if the wiki has it, and exported."""
    source = await wiki.add_source(ref="memory/2026-01-10.md", content="We chose Postgres.")
    await import_files(wiki, tmp_path / "vault", {"ledger-database.md": LEDGER})
    claim = await wiki.row("superseded_claims")
    assert (claim["fact"], claim["stated_by_id"], claim["superseded_on"].date().isoformat()) == (
        "Initial choice was Postgres", source, "2026-01-30",
    )  # fmt: skip
    assert claim["replacement"].startswith("MySQL. Chosen over Postgres")
    assert (await run_import(wiki, tmp_path / "vault")).unchanged == 1
    await export_folder(wiki.database, wiki.scope, tmp_path / "export")
    await run_import(wiki, tmp_path / "export")
    assert len(await wiki.rows("superseded_claims")) == 1
