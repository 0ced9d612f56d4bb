"""A request that comes again is answered as if it had not come before, whoever asks."""

import asyncio
import gc
from typing import Any

import pytest

from db.database import Database
from db.scope import Scope
from resolvers.context import Context
from schema.root import GRAPHQL
from selection import Engine, Limits
from selection.errors import NotCompilable
from selection.kept import Slot
from selection.operation import Document, Operation
from tests.schema.asking import Recorder, data
from tests.schema.documents import Documents
from tests.schema.world import CALLERS, World, caller

UNLIMITED = Limits(*[10**6] * 6)
RICH = 10**15
TITLES = "query($n: Int) { recentWikiPages(limit: $n) { id title } }"
STRANGER = caller(2, "alice", CALLERS[0].role)


async def outcome(
    engine: Engine, database: Database, scope: Scope, asked: tuple[Operation, Any], slot: Slot | None = None
) -> tuple[str, Any, int]:
    """What is answered or what is wrong, the statement, and what was paid."""
    context = Recorder(database, scope, RICH)
    try:
        shown: Any = await engine.as_bytes(*asked, context, slot)
    except NotCompilable:
        shown = NotCompilable
    except Exception as error:
        shown = type(error), str(error)
    return shown, context.statements, context.spent


async def test_random_documents_come_again_from_several_callers(
    database: Database, world: World, engine: Engine
) -> None:
    again = 0
    for seed in range(1, 31):
        own, other = CALLERS[seed % len(CALLERS)], CALLERS[(seed + 1) % len(CALLERS)]
        documents = Documents(GRAPHQL, world, own, seed)
        text, variables, name = documents.make()
        operation = Document(GRAPHQL, text, name, UNLIMITED).operation
        for given in (variables, documents.again()):
            asked, slot = (operation, given), Slot()
            expected = {scope: await outcome(engine, database, scope, asked) for scope in (own, other)}
            for scope in (own, other, other, own, own):
                found = await outcome(engine, database, scope, asked, slot)
                assert found == expected[scope], f"SEED={seed}\n{text}\n{given}"
            again += slot.kept is not None and slot.kept.ready_for(own) is not None
    assert again > 30, "many of them are kept"


async def test_callers_who_ask_the_same_at_the_same_time_get_their_own(database: Database, engine: Engine) -> None:
    slot, callers = Slot(), [*CALLERS, STRANGER]
    expected = [await engine.execute(TITLES, {"n": 3}, None, Context(database, scope)) for scope in callers]
    assert len(set(expected)) > 1
    for _ in range(5):
        asking = (engine.execute(TITLES, {"n": 3}, None, Context(database, scope), slot) for scope in callers)
        assert await asyncio.gather(*asking) == expected


async def test_a_request_that_came_before_is_not_read_again(
    database: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    slot, context = Slot(), Context(database, CALLERS[0])
    first = await engine.execute(TITLES, {"n": 3}, None, context, slot)
    monkeypatch.setattr("selection.engine.coerced", None)
    assert await engine.execute(TITLES, {"n": 3}, None, Context(database, CALLERS[0]), slot) == first
    assert (engine.documents.tally.hits, engine.plans.hits) == (1, 1)


async def test_what_it_may_cost_is_asked_each_time(database: Database, engine: Engine) -> None:
    slot, rich = Slot(), Context(database, CALLERS[0])
    await engine.execute(TITLES, {"n": 30}, None, rich, slot)
    poor = Context(database, CALLERS[0], rich.spent - 1)
    assert b'"errors"' in (await engine.execute(TITLES, {"n": 30}, None, poor, slot)).body
    enough = Context(database, CALLERS[0], rich.spent)
    assert b'"errors"' not in (await engine.execute(TITLES, {"n": 30}, None, enough, slot)).body
    assert enough.spent == rich.spent


async def test_what_the_caller_may_not_ask_is_refused_after_somebody_who_may(
    database: Database, engine: Engine
) -> None:
    text, slot = "query($t: ID) { recentWikiPages(tenantId: $t) { id } }", Slot()
    given = {"t": str(CALLERS[0].tenant_id)}
    assert b'"errors"' not in (await engine.execute(text, given, None, Context(database, CALLERS[0]), slot)).body
    refused = await engine.execute(text, given, None, Context(database, STRANGER), slot)
    assert b'"FORBIDDEN"' in refused.body
    assert b'"errors"' not in (await engine.execute(text, given, None, Context(database, CALLERS[0]), slot)).body


async def test_a_plan_that_was_forgotten_is_made_anew_and_held_by_nobody(database: Database, engine: Engine) -> None:
    slot = Slot()
    await engine.execute(TITLES, {"n": 3}, None, Context(database, CALLERS[0]), slot)
    assert slot.kept is not None
    engine.documents.entries.clear()
    gc.collect()
    assert slot.kept.plan() is None
    answer = await engine.execute(TITLES, {"n": 3}, None, Context(database, CALLERS[0]), slot)
    assert b'"errors"' not in answer.body
    assert slot.kept.plan() is not None
    assert await data(engine, Context(database, CALLERS[0]), TITLES, n=3)
