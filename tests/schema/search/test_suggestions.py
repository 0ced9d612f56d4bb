"""Names are suggested for a typed prefix, best matches first."""

from typing import Any

import asyncpg
import pytest

from db.database import Database
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from selection import Engine
from tests.schema.executing import RecordingContext, query_data
from tests.schema.world import World
from tests.wiki import Wiki

TEXT = "query ($p: String!) { wikiSuggest(prefix: $p, limit: 20) { name kind page { id title slug status } } }"


async def suggested(engine: Engine, context: RecordingContext, prefix: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await query_data(engine, context, TEXT, p=prefix))["wikiSuggest"]
    return found


async def test_suggestions_ignore_case_accents_and_spaces(engine: Engine, context: RecordingContext) -> None:
    names = await suggested(engine, context, "latte m")
    assert {one["name"] for one in names} >= {"Latte mocha"}
    for prefix in ("LATTE  M", " Latté m"):
        assert await suggested(engine, context, prefix) == names


async def test_a_page_is_suggested_once_by_its_best_name(engine: Engine, context: RecordingContext) -> None:
    found = await suggested(engine, context, "l")
    ids = [one["page"]["id"] for one in found]
    assert len(ids) == len(set(ids)) > 5
    assert {"TITLE", "SLUG"} <= {one["kind"] for one in found}
    for one in found:
        shown = {"TITLE": one["page"]["title"], "SLUG": one["page"]["slug"]}.get(one["kind"])
        assert one["name"] == shown or one["kind"] in ("ALIAS", "OLD_SLUG")
        assert one["kind"] == "TITLE" or not one["page"]["title"].lower().startswith("l")
        assert one["page"]["status"] == "ACTIVE"


async def test_exact_names_come_first_and_then_shorter_names(engine: Engine, context: RecordingContext) -> None:
    names = [one["name"] for one in await suggested(engine, context, "latte")]
    starting = [name for name in names if name.lower().startswith("latte")]
    assert names[: len(starting)] == starting, "before those in which a later word begins so"
    for some in (starting, names[len(starting) :]):
        assert [len(name) for name in some] == sorted(map(len, some))
    whole = await suggested(engine, context, "latte mocha")
    assert whole[0]["name"] == "Latte mocha"


async def test_an_exact_old_slug_outranks_the_prefix_of_a_title(
    engine: Engine, context: RecordingContext, world: World, world_dsn: str
) -> None:
    page = next(
        row
        for row in world.rows("pages", 1, "alice")
        if row["status"] == "active" and row["title"].startswith("Latte ")
    )
    key = page["tenant_id"], page["owner_id"], page["id"]
    connection = await asyncpg.connect(world_dsn)
    insert = "INSERT INTO page_names (tenant_id, owner_id, page_id, kind, name, status) VALUES ($1, $2, $3, $4, $5, $6)"
    delete = "DELETE FROM page_names WHERE tenant_id = $1 AND owner_id = $2 AND page_id = $3 AND name = 'latt'"
    try:
        await connection.execute(insert, *key, "old_slug", "latt", "active")
        (first, *_) = await suggested(engine, context, "latt")
        assert (first["name"], first["page"]["id"]) == ("latt", str(page["id"]))
    finally:
        await connection.execute(delete, *key)
        await connection.close()


async def test_names_starting_with_the_prefix_precede_names_containing_it(engine: Engine, wiki: Wiki) -> None:
    drafts = [
        PageDraft("topic", "Kiln"), PageDraft("topic", "Kilns of Porto"), PageDraft("topic", "Old-kiln"),
        PageDraft("entity", "The oak kiln"), PageDraft("topic", "Oven", aliases=("Marta's kiln",)),
        PageDraft("topic", "Skilnet"), PageDraft("topic", "Oak", body="kiln"),
    ]  # fmt: skip
    for draft in drafts:
        await create_page(wiki.database, wiki.scope, draft)
    context = RecordingContext(wiki.database, wiki.scope, 10**6)

    async def names(prefix: str) -> list[str]:
        return [one["name"] for one in await suggested(engine, context, prefix)]

    assert await names("kil") == ["Kiln", "Kilns of Porto", "Old-kiln", "Marta's kiln", "The oak kiln"]
    assert await names("oak ki") == ["The oak kiln"]
    assert await names("oak k\u0131lns") == []
    assert await names("k") == ["Kiln", "Kilns of Porto"], "one letter is no word"
    assert await names("kiln ") == ["Kiln", "Old-kiln", "Marta's kiln", "The oak kiln"]
    assert len(context.statements) == 5


async def test_no_word_is_completed_after_a_trailing_space(engine: Engine, wiki: Wiki) -> None:
    for title in ("Z", "Z machine", "Zebra"):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title))
    context = RecordingContext(wiki.database, wiki.scope, 10**6)
    assert [one["name"] for one in await suggested(engine, context, "z ")] == ["Z", "Z machine"]
    assert len(await suggested(engine, context, "z")) == 3


@pytest.mark.parametrize("prefix", ["", "   ", "?!", "no such name"])
async def test_a_prefix_without_matching_names_suggests_nothing(
    engine: Engine, context: RecordingContext, prefix: str
) -> None:
    assert await suggested(engine, context, prefix) == []
    assert len(context.statements) == 1
    assert not context.searches


async def test_archived_pages_are_not_suggested(
    engine: Engine, context: RecordingContext, world: World, database: Database
) -> None:
    page = next(row for row in world.rows("pages", 1, "alice") if row["status"] == "archived")
    found = await suggested(engine, context, page["slug"])
    assert str(page["id"]) not in {one["page"]["id"] for one in found}
