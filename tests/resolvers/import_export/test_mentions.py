"""Mentions in exports and imports."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from resolvers.import_export import exporting
from resolvers.import_export.export_files import export_path
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, delete_page
from resolvers.sources.mentions import record_mention
from tests.resolvers.import_export.exports import create_full_wiki, export_files
from tests.resolvers.import_export.vaults import run_import
from tests.wiki import Wiki


async def stored_mentions(wiki: Wiki) -> dict[str, tuple[Any, ...]]:
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
async def test_mentions_are_imported_unchanged(wiki: Wiki, tmp_path: Path, form: str) -> None:
    await create_full_wiki(wiki)
    before = await stored_mentions(wiki)
    assert [facts[:3] for facts in before.values()] == [("open", 2, "entity"), ("ignored", 1, None)]
    await export_path(wiki.database, wiki.scope, tmp_path / form)
    copy = await wiki.neighbour()
    for _ in range(2):
        assert (await run_import(copy, tmp_path / form)).errors == ()
        assert await stored_mentions(copy) == before
    assert len(await copy.rows("activity", action="mention.recorded")) == 1
    for sightings in await wiki.rows("sightings", "1"), await copy.rows("sightings", "1"):
        assert len(sightings) == 3


async def test_a_mention_with_many_sources_is_exported_in_several_lines(
    wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "SIGHTINGS_PER_BATCH", 2)
    for n in range(5):
        source = await wiki.add_source(ref=f"doc-{n}")
        await record_mention(wiki.database, wiki.scope, name="Ada", source_id=source, quote=f"Ada {n}")
    before = await stored_mentions(wiki)
    first = await export_files(wiki, tmp_path / "first")
    assert len(first[".cairn/mentions.jsonl"].splitlines()) == 3
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / "first")).errors == ()
    assert await stored_mentions(copy) == before
    assert await export_files(copy, tmp_path / "second") == first


async def test_a_promoted_mention_is_promoted_again_by_an_import(wiki: Wiki, tmp_path: Path) -> None:
    """A mention whose page was deleted is not exported."""
    here = wiki.database, wiki.scope
    pages = {name: (await create_page(*here, PageDraft("entity", name))).page_id for name in ("Ada", "Bo", "Cy")}
    for name, page_id in pages.items():
        await record_mention(*here, name=name, source_id=await wiki.add_source(ref=f"doc-{name}"), quote=f"{name}!")
        await wiki.connection.execute(
            "UPDATE mentions SET status = 'promoted', promoted_page_id = $1 WHERE name = $2", page_id, name
        )
    await delete_page(*here, pages["Cy"])
    first = await export_files(wiki, tmp_path / "first")
    assert b"Cy" not in first[".cairn/mentions.jsonl"]
    copy = await wiki.neighbour()
    for _ in range(2):
        assert (await run_import(copy, tmp_path / "first")).errors == ()
    grown = {row["name"]: (row["status"], row["promoted_page_id"]) for row in await copy.rows("mentions")}
    own = {row["title"]: row["id"] for row in await copy.rows("pages")}
    assert grown == {"Ada": ("promoted", own["Ada"]), "Bo": ("promoted", own["Bo"])}
    assert await export_files(copy, tmp_path / "second") == first
    assert len(await copy.rows("activity", action="mention.promoted")) == 2


async def test_a_mention_is_promoted_only_to_a_page_of_its_name(wiki: Wiki, tmp_path: Path) -> None:
    await wiki.add_source()
    await create_page(wiki.database, wiki.scope, PageDraft("entity", "Ada"))
    seen = [{"kind": "document", "ref": "doc-1"}]
    lines = [
        {"mention": {"name": name, "status": "promoted", "page": page, "sightings": seen}}
        for name, page in (("ADA", "/wiki/entity/ada"), ("Bo", "/wiki/entity/ada"), ("Cy", "/wiki/entity/cy"))
    ]
    (tmp_path / "x.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    assert (await run_import(wiki, tmp_path / "x.jsonl")).errors == ()
    statuses = {row["name"]: row["status"] for row in await wiki.rows("mentions")}
    assert statuses == {"ADA": "promoted", "Bo": "open", "Cy": "open"}


async def test_imported_mentions_are_merged_with_those_of_the_wiki(wiki: Wiki, tmp_path: Path) -> None:
    """Sources count once, an open mention takes the imported status, and invalid lines are reported."""
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
    (tmp_path / "x.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    result = await run_import(wiki, tmp_path / "x.jsonl")
    assert {error.path for error in result.errors} == {f"x.jsonl:{n}" for n in range(4, 10)}
    (row,) = await wiki.rows("mentions")
    assert (row["name"], row["status"], row["mention_count"]) == ("Ada", "ignored", 2)
