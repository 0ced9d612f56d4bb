"""Random mutations answer with the same data and errors whether payloads are compiled or completed by graphql-core.

Each is done twice on the same rows, because neither is committed. SEED=n and DOCUMENTS=m in the environment choose
which.
"""

import base64
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
import pytest
from graphql import GraphQLField

from db.connection import Connection
from db.database import Database
from db.one_transaction import OneTransaction
from db.scope import Scope
from observability.trace import REQUEST_TRACE, RequestTrace
from resolvers.context import Context
from schema.errors import format_error
from schema.root import GRAPHQL, build, make_engine
from selection import Engine, Resolvers, Source
from selection.compile.compiler import Mode
from selection.errors import NotCompilable
from selection.execute.plan import QueryPlan
from selection.execute.resolve import Info
from tests.schema.mutation_documents import MutationDocuments
from tests.schema.world import CALLERS, World

SEED, COUNT = int(os.environ.get("SEED", "1")), int(os.environ.get("DOCUMENTS", "80"))
UUIDS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|\+00:00)")
MANY = 40  # runs
DAY = 86_400  # seconds


class Failing(Context):
    """A context in which the compiled reads with the given numbers fail."""

    def __init__(self, database: Database, scope: Scope, fails: set[int]) -> None:
        super().__init__(database, scope)
        self.fails, self.fetched = fails, 0

    async def fetch(self, sql: str, arguments: Sequence[Any], anew: bool = False) -> bytes | None:
        self.fetched += 1
        if self.fetched in self.fails:
            raise ZeroDivisionError
        return await super().fetch(sql, arguments, anew)


class ValuesOnly(Resolvers):
    """Resolvers that leave all of a payload to graphql-core, field by field."""

    async def plan(self, field: GraphQLField, source: Source, info: Info, mode: Mode) -> QueryPlan:
        if mode is Mode.BYTES:
            raise NotCompilable("the reference")
        return await super().plan(field, source, info, mode)


@pytest.fixture(scope="module")
def reference() -> Engine:
    schema = build()._schema
    ValuesOnly(schema)
    return Engine(schema, formatter=format_error)


@pytest.mark.parametrize("part", range(4))
async def test_random_mutations_agree_with_graphql_core(
    database: Database, world: World, reference: Engine, part: int
) -> None:
    tally: Counter[str] = Counter()
    known = {str(row["id"]) for rows in world.tables.values() for row in rows if "id" in row}
    engine = make_engine()
    for seed in range(SEED + part, SEED + COUNT, 4):
        scope = CALLERS[seed % len(CALLERS) if seed % 8 < 4 else 0]
        documents = MutationDocuments(GRAPHQL, world, scope, seed)
        text, variables, _ = documents.make()
        for given, fails in ((variables, set[int]()), (documents.again(), {documents.rng.randint(1, 3)})):
            what = f"SEED={seed}\n{text}\n{given}"
            expected, _ = await execute_and_roll_back(reference, Failing(database, scope, fails), text, given)
            found, way = await execute_and_roll_back(engine, Failing(database, scope, fails), text, given)
            if fails:  # of several reads at once, graphql-core's may have to be planned first and then cost nothing
                found.pop("extensions", None), expected.pop("extensions", None)
                for error in (
                    *found.get("errors", ()),
                    *expected.get("errors", ()),
                ):  # and another one of them may fail
                    error.pop("path", None), error.pop("locations", None)
            assert normal(found, known) == normal(expected, known), what
            tally[way] += 1
            tally["errors"] += "errors" in found
            tally.update(error["extensions"]["code"] for error in found.get("errors", []))
            tally["written"] += bool(found.get("data"))
    print(dict(tally))  # shown with -s
    if tally["bytes"] + tally["values"] >= MANY:
        assert tally["bytes"] > tally["values"], "most mutations need no graphql-core"
        assert tally["written"] > tally["errors"] / 6, "many of them find something to write"


async def execute_and_roll_back(
    engine: Engine, context: Failing, text: str, given: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    """Return the response body and the way of execution, after the writes were rolled back."""
    trace = RequestTrace("differential")
    token = REQUEST_TRACE.set(trace)
    try:
        async with OneTransaction(context.database, begin_without_claim) as context.database:
            answer = await engine.execute(text, given, None, context)
    finally:
        REQUEST_TRACE.reset(token)
    body: dict[str, Any] = orjson.loads(answer.body)
    assert [error["extensions"]["code"] for error in body.get("errors", [])] == trace.codes
    return body, trace.way


async def begin_without_claim(connection: Connection) -> None:
    """Begin the transaction without any claim."""


def normal(value: Any, known: set[str]) -> Any:
    """Return the value without the ids and times that each execution creates."""
    match value:
        case dict():
            return {key: normal(one, known) for key, one in value.items()}
        case list():
            return [normal(one, known) for one in value]
        case str() if is_cursor(value):
            return "cursor"
        case str():
            text = UUIDS.sub(lambda one: one[0] if one[0] in known else "new", value)
            return TIMES.sub(lambda one: "now" if is_now(one[0]) else one[0], text)
    return value


def is_now(text: str) -> bool:
    moment = datetime.fromisoformat(text)
    return abs((datetime.now(moment.tzinfo) - moment).total_seconds()) < DAY


def is_cursor(text: str) -> bool:
    try:
        return isinstance(json.loads(base64.urlsafe_b64decode(text + "==")), list)
    except ValueError:
        return False
