"""A search that comes again goes by what was known of its question, and by nothing that holds no more."""

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from db.scope import Scope
from resolvers.drafts import PageDraft
from resolvers.pages import archive_page, create_page
from resolvers.search.memory import memory_of
from resolvers.search.reindexing import reindex
from selection import Engine
from selection.kept import Slot
from tests.schema.asking import Recorder
from tests.wiki import Wiki, close_wiki, open_wiki

FERRY = 'query($n: Int) { mobileWikiSearch(query: "ferry", limit: $n) { page { title } } }'
ANY_COST = 10**9


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    wiki = await open_wiki(dsn)
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Pier", body="Where the ferry leaves."))
    yield wiki
    await close_wiki(wiki)


async def found(
    engine: Engine, wiki: Wiki, slot: Slot | None = None, scope: Scope | None = None, size: int = 10, text: str = FERRY
) -> tuple[set[str], int]:
    """The titles, and how many statements of the engine's own it took."""
    context = Recorder(wiki.database, scope or wiki.scope, ANY_COST)
    answer: Any = orjson.loads((await engine.execute(text, {"n": size}, None, context, slot)).body)
    assert "errors" not in answer
    return {hit["page"]["title"] for hit in answer["data"]["mobileWikiSearch"]}, len(context.statements)


async def test_the_question_is_not_looked_up_again(engine: Engine, wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    slot = Slot()
    assert await found(engine, wiki, slot) == ({"Pier"}, 1)
    monkeypatch.setattr("resolvers.context.known_within", None)
    assert await found(engine, wiki, slot) == ({"Pier"}, 1)


async def test_what_was_counted_anew_is_understood_anew(engine: Engine, wiki: Wiki) -> None:
    slot = Slot()
    for _ in range(2):
        await found(engine, wiki, slot)
    page = await create_page(
        wiki.database, wiki.scope, PageDraft("topic", "Timetable", body="The ferry leaves at noon.")
    )
    assert await found(engine, wiki, slot) == ({"Pier", "Timetable"}, 2), "first for nothing"
    assert await found(engine, wiki, slot) == ({"Pier", "Timetable"}, 1)
    await reindex(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, again=True)
    assert await found(engine, wiki, slot) == ({"Pier", "Timetable"}, 2)
    assert await found(engine, wiki, slot) == ({"Pier", "Timetable"}, 1)
    await archive_page(wiki.database, wiki.scope, page.page_id)
    assert (await found(engine, wiki, slot))[0] == {"Pier"}


async def test_what_another_request_has_understood_anew_is_taken_from_it(engine: Engine, wiki: Wiki) -> None:
    slot = Slot()
    await found(engine, wiki, slot)
    await reindex(wiki.database, wiki.scope.tenant_id, wiki.scope.owner_id, again=True)
    assert (await found(engine, wiki))[1] == 2
    assert (await found(engine, wiki, slot))[1] == 1


async def test_other_callers_and_wikis_get_their_own_at_the_same_time(engine: Engine, wiki: Wiki) -> None:
    other, slot = await wiki.neighbour(), Slot()
    await create_page(other.database, other.scope, PageDraft("topic", "Gulls", body="They follow the ferry."))
    same = wiki.scope.in_owner(wiki.scope.owner_id)
    scopes = {wiki.scope.owner_id: {"Pier"}, other.scope.owner_id: {"Gulls"}}
    for _ in range(3):
        asked = [wiki.scope, other.scope, same] * 2
        titles = await asyncio.gather(*(found(engine, wiki, slot, scope) for scope in asked))
        assert [one for one, _ in titles] == [scopes[scope.owner_id] for scope in asked]


async def test_each_number_of_hits_is_its_own(engine: Engine, wiki: Wiki) -> None:
    for number in range(7):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Ferry {number}"))
    slots = {size: Slot() for size in range(1, 8)}
    for _ in range(2):
        for size, slot in slots.items():
            assert len((await found(engine, wiki, slot, size=size))[0]) == size


async def test_what_is_forgotten_of_a_question_is_held_by_no_request(engine: Engine, wiki: Wiki) -> None:
    slot = Slot()
    await found(engine, wiki, slot)
    assert slot.kept is not None
    ready = slot.kept.ready_for(wiki.scope)
    assert ready is not None
    assert ready.known() is not None
    memory_of(wiki.database).understood.entries.clear()
    gc.collect()
    assert ready.known() is None
    assert await found(engine, wiki, slot) == ({"Pier"}, 1)


async def test_a_question_that_is_still_asked_stays_when_others_come(engine: Engine, wiki: Wiki) -> None:
    memory, slot = memory_of(wiki.database), Slot()
    memory.understood.size = 3
    await found(engine, wiki, slot)
    for number in range(6):
        await found(engine, wiki, slot)
        await found(engine, wiki, text=FERRY.replace("ferry", f"harbour{number} ferry"))
    assert slot.kept is not None
    ready = slot.kept.ready_for(wiki.scope)
    assert ready is not None
    assert ready.known() is not None
    assert len(memory.understood.entries) == 3
