"""Looking up pages and sources by the names in a batch, and the statements that this takes."""

import asyncpg
import pytest

from compiler.read.evidence import StoredKnowledge
from db.sql import statements
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.sources.sources import forget_source
from tests.compiler.scripted_compiler import compile_all, retain_texts
from tests.plans.explain import Planning, explain
from tests.recording_database import RecordingDatabase, recording_database
from tests.wiki import Wiki

COMPILING = statements("sources/compiling")
FIND_CARDS, FIND_SOURCES_WITH = COMPILING["find_cards"].sql, COMPILING["find_sources_with"].sql
SAID = {f"thing {n}" for n in range(1_000)}


@pytest.mark.parametrize(
    ("said", "asked"),
    [(SAID | {"austin"}, {"austin"}), ({"austin", "thing 1"}, {"austin", "thing 1"}), (SAID, set()), (set(), set())],
    ids=["few of many", "many of few", "none of many", "none"],
)
async def test_a_wiki_with_fewer_names_than_a_batch_is_not_asked_for_each(
    wiki: Wiki, said: set[str], asked: set[str]
) -> None:
    for title in ("Austin", "Lisbon", "Zilker"):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", title))
    database = RecordingDatabase(wiki.database.dsn)
    await database.open()
    found = await StoredKnowledge(database, wiki.scope).pages(said)
    sent = [one for one in await database.sent_statements() if one.sql == FIND_CARDS]
    await database.close()
    assert {name: [page.title for page in pages] for name, pages in found.items()} == (
        {"austin": ["Austin"]} if "austin" in said else {}
    )
    assert {name for one in sent for values in one.arguments if isinstance(values, list) for name in values} == asked


async def test_compiled_sources_are_found_by_the_words_of_a_name(wiki: Wiki) -> None:
    texts = ["Sand and lime plaster.", "Plastered with limes.", "The box room.", "东京都的天气很好。", "limes"]
    ids = await retain_texts(wiki, *texts)
    knowledge, names = StoredKnowledge(wiki.database, wiki.scope), ["lime plaster", "box room", "东京", "the of"]
    assert set(await knowledge.sources_with(names, 9)) <= set(names)
    assert not any((await knowledge.sources_with(names, 9)).values()), "no source is compiled yet"
    await compile_all(wiki)
    found = await knowledge.sources_with(names, 9)
    assert {name: set(found.get(name, ())) for name in names} == {
        "lime plaster": {ids[0], ids[1]},
        "box room": {ids[2]},
        "东京": {ids[3]},
        "the of": set(),
    }
    assert list((await knowledge.sources_with(["lime"], 2))["lime"]) == [ids[4], ids[1]], "the newest"


async def test_neither_forgotten_sources_nor_those_of_other_wikis_are_found(wiki: Wiki) -> None:
    neighbour = await wiki.neighbour()
    ids = await retain_texts(wiki, "Sand and lime plaster.", "More lime plaster.")
    await retain_texts(neighbour, "The lime plaster of others.")
    for place in (wiki, neighbour):
        await compile_all(place)
    await forget_source(wiki.database, wiki.scope, ids[0])
    await compile_all(wiki)
    found = await StoredKnowledge(wiki.database, wiki.scope).sources_with(["lime plaster"], 9)
    assert list(found["lime plaster"]) == [ids[1]]


async def test_finding_the_sources_of_a_name_reads_the_index_of_passages(wiki: Wiki) -> None:
    for start in range(0, 3_000, 100):
        await retain_texts(wiki, *(f"Note {n} of the harbour." for n in range(start, start + 100)), start=start)
    await retain_texts(wiki, "Sand and lime plaster.", start=3_000)
    await compile_all(wiki)
    async with recording_database(wiki.database.dsn) as database:
        await StoredKnowledge(database, wiki.scope).sources_with(["lime plaster"], 9)
        (sent,) = [one for one in await database.sent_statements() if one.sql == FIND_SOURCES_WITH]
    connection = await asyncpg.connect(wiki.database.dsn)
    try:
        await connection.execute("VACUUM ANALYZE search_passages, sources")
        execution = await explain(connection, sent, Planning.GENERIC)
    finally:
        await connection.close()
    assert "search_passages_words_ix" in execution.indexes
    assert execution.scanned == set()
