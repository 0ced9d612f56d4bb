"""Plans and documents are cached, shared and bounded, and keep no data of a request."""

import itertools

import pytest

from db.database import Database
from schema.root import STRAWBERRY
from selection import Engine
from tests.schema.executing import RecordingContext, error_code, execute_document, query_data
from tests.schema.world import CALLERS, World


async def test_plans_are_shared_by_shape_and_bounded(engine: Engine, context: RecordingContext) -> None:
    text = """query($o: WikiPageOrder!, $f: WikiPageFilter, $n: Int) {
        wikiPages(orderBy: $o, filter: $f, first: $n) { nodes { id } } }"""
    filters = [None, {"tags": ["É"]}, {"tags": ["coffee"]}, {"types": ["ENTITY"]}]
    for order, filter, first in itertools.product(("TITLE", "HUBNESS"), filters, (1, 2, None)):
        await query_data(engine, context, text, o=order, f=filter, n=first)
    plans = (await engine.document(text, None)).operation.plans
    assert len(plans.entries) == 2 * 3 * 2
    assert len(set(context.statements)) == 2 * 3
    for order in ("UPDATED", "CREATED"):
        for filter in filters:
            await query_data(engine, context, text, o=order, f=filter, n=1)
    assert len(plans.entries) == plans.size


async def test_the_document_cache_is_bounded_and_caches_invalid_documents(
    engine: Engine, context: RecordingContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        assert error_code(await execute_document(engine, context, "{ nothing }")) == "GRAPHQL_VALIDATION_FAILED"
        monkeypatch.setattr(engine, "parse", None)
    monkeypatch.undo()
    for number in range(engine.documents.size + 8):
        await query_data(engine, context, f"{{ a{number}: __typename }}")
    assert len(engine.documents.entries) == engine.documents.size
    assert ("{ nothing }", None) not in engine.documents.entries


async def test_a_shared_plan_shows_each_caller_only_its_own_rows(
    engine: Engine, database: Database, world: World
) -> None:
    """Every caller uses the plans of the first caller, as bytes and as values."""
    for more in ("", "excerpt"):
        text = f"{{ viewer {{ role actorId owner {{ id }} }} recentWikiPages(limit: 100) {{ ownerId id {more} }} }}"
        for scope in (*CALLERS[:-1], CALLERS[0]):
            answer = await query_data(engine, RecordingContext(database, scope), text)
            pages = {
                str(row["id"])
                for row in world.tables["pages"]
                if row["owner_id"] == scope.owner_id and row["status"] == "active"
            }
            assert {page["id"] for page in answer["recentWikiPages"]} == pages
            owner = {"id": str(scope.owner_id)}
            assert answer["viewer"] == {"role": scope.role.name, "actorId": scope.actor.id, "owner": owner}
        assert len((await engine.document(text, None)).operation.plans.entries) == 1


async def test_plans_work_under_the_executor_of_strawberry(context: RecordingContext) -> None:
    """Strawberry executes the operations of subscriptions over WebSockets."""
    text = """query($order: WikiPageOrder!, $filter: WikiPageFilter, $first: Int) {
        wikiPages(orderBy: $order, filter: $filter, first: $first) { nodes { title excerpt } } }"""
    variables = {"order": "TITLE", "filter": {"status": "ACTIVE"}, "first": 2}
    result = await STRAWBERRY.execute(text, variables, context_value=context)
    assert result.errors is None
    assert result.data
    assert len(result.data["wikiPages"]["nodes"]) == 2
    assert len(context.statements) == 1
