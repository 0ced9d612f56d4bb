"""A cached plan answers every caller like a new plan does."""

import asyncio
from typing import Any

from db.database import Database
from db.scope import Scope
from resolvers.context import Context
from schema.root import GRAPHQL
from selection import Engine, Limits
from selection.errors import NotCompilable
from selection.execute.operation import Document, Operation
from tests.schema.documents import Documents
from tests.schema.executing import RecordingContext
from tests.schema.world import CALLERS, World, caller_scope

UNLIMITED = Limits(*[10**6] * 6)
RICH = 10**15
TITLES = "query($n: Int) { recentWikiPages(limit: $n) { id title } }"
STRANGER = caller_scope(2, "alice", CALLERS[0].role)


async def outcome(
    engine: Engine, database: Database, scope: Scope, operation: Operation, given: Any
) -> tuple[Any, list[str], int]:
    """Return the answer or the error, the statements, and the cost."""
    context = RecordingContext(database, scope, RICH)
    try:
        shown: Any = await engine.as_bytes(operation, given, context)
    except NotCompilable:
        shown = NotCompilable
    except Exception as error:
        shown = type(error), str(error)
    return shown, context.statements, context.spent


async def test_cached_plans_answer_several_callers_like_fresh_plans(
    database: Database, world: World, engine: Engine
) -> None:
    for seed in range(1, 16):
        own, other = CALLERS[seed % len(CALLERS)], CALLERS[(seed + 1) % len(CALLERS)]
        documents = Documents(GRAPHQL, world, own, seed)
        text, variables, name = documents.make()
        cached = Document(GRAPHQL, text, name, UNLIMITED).operation
        for given in (variables, documents.again()):
            for scope in (own, other, own):
                fresh = Document(GRAPHQL, text, name, UNLIMITED).operation
                expected = await outcome(engine, database, scope, fresh, given)
                assert await outcome(engine, database, scope, cached, given) == expected, f"SEED={seed}\n{text}"


async def test_concurrent_callers_of_one_document_get_their_own_answers(database: Database, engine: Engine) -> None:
    callers = [*CALLERS, STRANGER]
    expected = [await Engine(GRAPHQL).execute(TITLES, {"n": 3}, None, Context(database, scope)) for scope in callers]
    assert len(set(expected)) > 1
    for _ in range(5):
        asking = (engine.execute(TITLES, {"n": 3}, None, Context(database, scope)) for scope in callers)
        assert await asyncio.gather(*asking) == expected


async def test_the_cost_is_checked_on_every_use_of_a_plan(database: Database, engine: Engine) -> None:
    rich = Context(database, CALLERS[0])
    await engine.execute(TITLES, {"n": 30}, None, rich)
    poor = Context(database, CALLERS[0], rich.spent - 1)
    assert b'"errors"' in (await engine.execute(TITLES, {"n": 30}, None, poor)).body
    enough = Context(database, CALLERS[0], rich.spent)
    assert b'"errors"' not in (await engine.execute(TITLES, {"n": 30}, None, enough)).body
    assert enough.spent == rich.spent


async def test_access_is_checked_on_every_use_of_a_plan(database: Database, engine: Engine) -> None:
    text = "query($t: ID) { recentWikiPages(tenantId: $t) { id } }"
    given = {"t": str(CALLERS[0].tenant_id)}
    for scope, is_refused in ((CALLERS[0], False), (STRANGER, True), (CALLERS[0], False)):
        answer = await engine.execute(text, given, None, Context(database, scope))
        assert (b'"FORBIDDEN"' in answer.body) is is_refused
