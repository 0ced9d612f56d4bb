"""Everything that is stored can be exported and imported into another wiki, however long and unusual it is."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from content import limits
from content.notes.notes import Note
from db.ids import new_id
from resolvers.errors import BadInput
from resolvers.import_export.disk import targets
from resolvers.import_export.export_files import export_path
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import add_former_slugs, create_page, unarchive_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.sections import patch_section
from tests.full_wiki import LINES, PIECES, create_full_pages
from tests.resolvers.import_export.exports import read_files
from tests.resolvers.import_export.vaults import import_counts, run_import
from tests.wiki import Wiki

T = TypeVar("T")
FORMS = ("folder", "wiki.zip", "wiki.jsonl")


async def check_round_trip(wiki: Wiki, folder: Path, forms: Sequence[str] = FORMS) -> None:
    """Check for each form, with histories, that an import into the same wiki changes nothing, and that an import into
    an empty wiki gives the same export."""
    folder.mkdir()
    for form in forms:
        first, second = folder / f"first-{form}", folder / f"second-{form}"
        export = await export_path(wiki.database, wiki.scope, first, history=True)
        assert export.errors == ()
        again = await run_import(wiki, first)
        assert (again.errors, import_counts(again)) == ((), (0, 0, export.pages, 0))
        copy = await wiki.neighbour()
        result = await run_import(copy, first)
        assert (result.errors, result.created) == ((), export.pages)
        await export_path(copy.database, copy.scope, second, history=True)
        assert content(second) == content(first)


def content(path: Path) -> dict[str, bytes]:
    return read_files(path) if path.is_dir() else {path.name.partition("-")[2]: path.read_bytes()}


async def test_a_page_with_an_alias_of_300_characters_is_imported_unchanged(wiki: Wiki, tmp_path: Path) -> None:
    page = await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", aliases=["a" * 300]))
    await update_page(wiki.database, wiki.scope, page.page_id, body="Text.")
    await check_round_trip(wiki, tmp_path / "out")


async def test_the_slug_of_a_merged_page_of_another_type_is_imported_unchanged(wiki: Wiki, tmp_path: Path) -> None:
    topic, entity = [
        (await create_page(wiki.database, wiki.scope, PageDraft(type, title, body="Text."))).page_id
        for type, title in (("topic", "ATX"), ("entity", "Austin"))
    ]
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Linking", body="[x](/wiki/topic/atx)"))
    await merge_pages(wiki.database, wiki.scope, topic, entity)
    await check_round_trip(wiki, tmp_path / "out")
    copy = await wiki.neighbour()
    await run_import(copy, tmp_path / "out" / "first-folder")
    (page,) = await copy.rows("pages", title="Austin")
    assert await copy.rows("old_slugs", "slug", type="topic", slug="atx", page_id=page["id"])
    (target,) = await copy.rows("link_targets", "target", target="topic/atx")
    assert target["to_page_id"] == page["id"]


@settings(
    max_examples=5,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # to make a failure smaller takes minutes, and it says its values
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from(FORMS), st.lists(st.sampled_from(PIECES), min_size=1, max_size=2), st.sampled_from(LINES))
async def test_the_longest_and_most_unusual_values_are_imported_unchanged(
    wiki: Wiki, tmp_path: Path, form: str, pieces: list[str], text: str
) -> None:
    start = await wiki.neighbour()
    await create_full_pages(start.database, start.scope, pieces, text)
    await check_round_trip(start, tmp_path / str(start.scope.owner_id), [form])


async def test_a_lowered_bound_applies_to_new_values_and_not_to_stored_ones(
    wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create_full_pages(wiki.database, wiki.scope, ["e\u0301", "a, "])
    for bound in limits.BOUNDS:
        if not bound.fixed:
            monkeypatch.setattr(bound, "maximum", 3)
    with pytest.raises(BadInput):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", "Four"))
    await check_round_trip(wiki, tmp_path / "out", ["folder"])
    for page in await wiki.rows("pages"):
        await unarchive_page(wiki.database, wiki.scope, page["id"])
        await patch_section(wiki.database, wiki.scope, page["id"], section_slug="overview", body="abc")


async def test_a_page_with_thousands_of_citations_is_imported_unchanged(wiki: Wiki, tmp_path: Path) -> None:
    """The header is too long for a general YAML parser to read fast."""
    page = (await create_page(wiki.database, wiki.scope, PageDraft("topic", "A", body="Text."))).page_id
    scope = {"tenant_id": wiki.scope.tenant_id, "owner_id": wiki.scope.owner_id}
    (section,) = await wiki.rows("sections")
    ids = [new_id() for _ in range(4_000)]
    checksum = sha256(b"Text.").digest()
    sources = [
        (*scope.values(), id, "document", f"notes/2026/{n}.md", 1, "Text.", checksum) for n, id in enumerate(ids)
    ]
    columns = ["tenant_id", "owner_id", "id", "kind", "ref", "version", "content", "checksum"]
    await wiki.connection.copy_records_to_table("sources", records=sources, columns=columns)
    cited = [(*scope.values(), new_id(), page, section["id"], id) for id in ids]
    columns = ["tenant_id", "owner_id", "id", "page_id", "section_id", "source_id"]
    await wiki.connection.copy_records_to_table("section_sources", records=cited, columns=columns)
    await wiki.connection.execute("ANALYZE sources, section_sources, sections")
    await add_former_slugs(wiki.database, wiki.scope, page, [f"once-{n}" for n in range(400)])
    for form in ("folder", "wiki.jsonl"):
        export = await export_path(wiki.database, wiki.scope, tmp_path / form)
        again = await run_import(wiki, tmp_path / form)
        assert (export.errors, again.errors, import_counts(again)) == ((), (), (0, 0, 1, 0))


@pytest.mark.parametrize("form", FORMS)
async def test_a_page_that_cannot_be_exported_does_not_stop_the_export(
    wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    for title in ("Austin", "Boston", "Chicago"):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title, body="Text."))
    path = tmp_path / form
    await export_path(wiki.database, wiki.scope, path)
    before = content(path)
    for name in ("to_markdown", "to_record"):
        monkeypatch.setattr(targets, name, failing(getattr(targets, name)))
    export = await export_path(wiki.database, wiki.scope, path)
    (error,) = export.errors
    assert (export.pages, export.failed, error.path, error.code) == (2, 1, "topic/boston.md", "UNWRITABLE")
    assert "no room for Boston" in error.message
    if form == "folder":
        assert content(path)["topic/boston.md"] == before["topic/boston.md"], "the file of the previous export stays"
        (path / "topic/boston.md").unlink()
    copy = await wiki.neighbour()
    (missing,) = (await run_import(copy, path)).errors
    assert (missing.path, missing.code) == ("topic/boston.md", "MISSING")
    assert [page["title"] for page in await copy.rows("pages", "title")] == ["Austin", "Chicago"]


def failing(write: Callable[[Note], T]) -> Callable[[Note], T]:
    def maybe(note: Note) -> T:
        if note.title == "Boston":
            raise ValueError("no room for Boston")
        return write(note)

    return maybe
