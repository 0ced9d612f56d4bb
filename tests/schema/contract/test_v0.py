"""The contract of older clients is frozen, and is answered by the same statements as the newer one."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from graphql import is_enum_type, is_introspection_type, is_object_type

from db.database import Database
from schema import root, v0
from tests.app.clients.older_clients import CLI, MOBILE, WEB
from tests.schema.executing import RecordingContext, query_data
from tests.schema.world import CALLERS, World

COMMITTED = Path(__file__).parents[3] / "schema" / "v0.graphql"
READS = {**MOBILE, **WEB, "jobs": CLI["jobs"]}
SEARCHES = {"search"}
ADMIN = next(scope for scope in CALLERS if scope.role == "admin")
SPELLED = {"status", "kind"}
TRIGGERS = {"retain": "memory_retain", "sweep": "lint"}


def test_the_committed_v0_contract_is_the_one_served() -> None:
    message = "/graphql/v0 is frozen: what is new belongs in /graphql. For a mistake in it: `make schema`"
    assert COMMITTED.read_text() == v0.sdl(), message


def test_v0_states_triggers_and_kinds_are_strings() -> None:
    types = [type_ for type_ in v0.GRAPHQL.type_map.values() if not is_introspection_type(type_)]
    assert [type_.name for type_ in types if is_enum_type(type_)] == ["WikiPageType"]
    for type_ in types:
        if is_object_type(type_):
            assert type_.description, type_
            assert all(field.description for field in type_.fields.values()), type_
            spelled = {str(field.type) for name, field in type_.fields.items() if name in {*SPELLED, "trigger"}}
            assert spelled <= {"String!"}, type_


@pytest.fixture
def context(database: Database) -> RecordingContext:
    return RecordingContext(database, ADMIN)


def variables(world: World) -> dict[str, Any]:
    """Return variables for a page of the caller that has links in both directions."""
    pages = {row["id"]: row for row in world.tables["pages"] if row["owner_id"] == ADMIN.owner_id}
    ends = [{link[end] for link in world.tables["links"]} for end in ("from_page_id", "to_page_id")]
    page = next(pages[id] for id in sorted(ends[0] & ends[1] & pages.keys()) if pages[id]["status"] == "active")
    return {
        "tenantId": str(ADMIN.tenant_id), "userId": str(ADMIN.owner_id), "ownerId": str(ADMIN.owner_id),
        "pageId": str(page["id"]), "type": page["type"].upper(), "slug": page["slug"], "query": "latte", "limit": 20,
        "section": "overview",
    }  # fmt: skip


@pytest.mark.parametrize("name", READS)
async def test_a_v0_read_is_one_statement(context: RecordingContext, world: World, name: str) -> None:
    await query_data(v0.make_engine(), context, READS[name], **variables(world))
    assert len(context.statements) == 1


@pytest.mark.parametrize("name", READS)
async def test_v0_answers_differ_from_newer_ones_only_in_spelling(
    context: RecordingContext, world: World, name: str
) -> None:
    older = await query_data(v0.make_engine(), context, READS[name], **variables(world))
    newer = await query_data(root.make_engine(), context, READS[name], **variables(world))
    assert older == older_spelling(newer)
    assert older != newer or not SPELLED & set(READS[name].split())


def older_spelling(value: Any) -> Any:
    if isinstance(value, list):
        return [older_spelling(item) for item in value]
    if not isinstance(value, dict):
        return value
    shown = {name: item.lower() if name in SPELLED else older_spelling(item) for name, item in value.items()}
    if "trigger" in value:
        metrics = value["metrics"]
        upserted = None
        shown["trigger"] = TRIGGERS.get(value["trigger"], value["trigger"])
        shown["metrics"] = {**metrics, "records_read": metrics.get("sources_read"), "pages_upserted": upserted}
    return shown


async def test_a_refused_v0_document_suggests_no_newer_field(context: RecordingContext) -> None:
    answer = orjson.loads((await v0.make_engine().execute("{ wikiPagez { id } }", {}, None, context)).body)
    assert "wikiPages" not in str(answer)
