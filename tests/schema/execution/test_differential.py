"""Execution as bytes, execution as values and the reference agree on data and errors of random documents.

SEED=n and DOCUMENTS=m in the environment choose which; `make differential` runs thousands of them.
"""

import base64
import gc
import json
import logging
import os
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson
import pytest

from db.database import Database
from db.scope import Scope
from resolvers.context import Context
from schema.root import GRAPHQL, STRAWBERRY
from selection import Engine, Limits
from selection.compile.constant import is_constant
from selection.errors import NotCompilable
from selection.execute.operation import Document, Invalid
from tests.examples import examples
from tests.schema.documents import Documents
from tests.schema.executing import RecordingContext
from tests.schema.reference.executor import Reference, contract
from tests.schema.world import CALLERS, World
from tests.sql_verdicts import Verdicts

SEED, COUNT = int(os.environ.get("SEED", "1")), int(os.environ.get("DOCUMENTS", examples(80, 1000)))
SDL = STRAWBERRY.as_str()
UNLIMITED = Limits(*[10**6] * 6)
RICH = 10**15
MANY = 30  # runs
FAILED, NOT_COMPILABLE = "failed", "not compilable"
Answer = dict[str, Any]


@pytest.fixture(autouse=True)
def without_coroutines() -> Iterator[None]:
    """Collect the coroutines here that graphql-core leaves when a sibling of an asynchronous field fails."""
    yield
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "coroutine '.*' was never awaited", RuntimeWarning)
        gc.collect()


@pytest.mark.parametrize("part", range(4))
async def test_random_documents_agree_with_the_reference(
    database: Database, world: World, engine: Engine, verdicts: Verdicts, part: int
) -> None:
    """Each document is run with two sets of variables on one plan cache, in both modes."""
    schema = contract(SDL)
    references = [Reference(schema, world, scope, Context(database, scope)) for scope in CALLERS]
    tally: Counter[str] = Counter()
    started = time.perf_counter()
    for seed in range(SEED + part, SEED + COUNT, 4):
        caller = seed % len(CALLERS)
        documents = Documents(schema, world, CALLERS[caller], seed)
        text, variables, name = documents.make()
        document = Document(GRAPHQL, text, name, UNLIMITED)
        for given in (variables, documents.again(), variables):
            expected = await references[caller].execute(text, given, name)
            run = Run(f"SEED={seed}\n{text}\n{given}", engine, document, given, name)
            await run.check(database, CALLERS[caller], expected, tally)
            assert not any(map(verdicts.violations, run.statements)), run.what
        tally["plans"] += len(document.operation.plans.entries)
    print(f"{tally['runs'] / (time.perf_counter() - started):.0f} runs/s", dict(tally))  # shown with -s
    assert tally["bytes"] > tally["runs"] / 3 or tally["runs"] < MANY, "many documents compile as a whole"


class Run:
    """One document with one set of variables."""

    def __init__(self, what: str, engine: Engine, document: Document, given: Answer, name: str | None) -> None:
        self.what, self.engine, self.document, self.given, self.name = what, engine, document, given, name
        self.statements: list[str] = []

    async def check(self, database: Database, scope: Scope, expected: Answer, tally: Counter[str]) -> None:
        tally["runs"] += 1
        tally["errors"] += "errors" in expected
        values = await self.as_values(RecordingContext(database, scope, RICH))
        if self.is_eager(values, expected):
            tally["eager"] += 1
            return
        self.compare("values", values, expected)
        context = RecordingContext(database, scope, RICH)
        found = await self.as_bytes(context)
        tally[found if isinstance(found, str) else "bytes"] += 1
        if found == FAILED:
            assert "errors" in expected, self.what
        elif isinstance(found, dict):
            self.compare("bytes", found, expected)
            assert len(context.statements) <= 1, self.what
            assert context.statements or context.searches or asks_the_schema_alone(self.document), self.what
        self.statements = list(context.statements)

    async def as_values(self, context: RecordingContext) -> Answer:
        try:
            answer = await self.engine.as_values(self.document, self.given, self.name, context)
        except Invalid as invalid:
            return {"data": None, "errors": invalid.errors}
        found: Answer = orjson.loads(answer.body)
        return found

    async def as_bytes(self, context: RecordingContext) -> Answer | str:
        try:
            answer: Answer = orjson.loads(await self.engine.as_bytes(self.document.operation, self.given, context))
        except NotCompilable:
            return NOT_COMPILABLE
        except Exception:
            logging.getLogger(__name__).debug("not as bytes", exc_info=True)
            return FAILED
        return answer

    def compare(self, way: str, actual: Answer, expected: Answer) -> None:
        found = difference(actual.get("data"), expected.get("data"))
        assert found is None, f"{self.what}\n{way}, reference: {found}"
        errors = located_errors(actual), located_errors(expected)
        assert bool(errors[0]) == bool(errors[1]), f"{self.what}\n{way}, reference: {errors}"
        assert errors[0] == errors[1] or actual["data"] is None, f"{self.what}\n{way}, reference: {errors}"

    def is_eager(self, answer: Answer, expected: Answer) -> bool:
        """Return whether invalid sizes or cursors were refused in a field that the reference does not reach."""
        refused = [error for error in answer.get("errors", ()) if isinstance(error, dict) and is_eager_error(error)]
        if not refused or not answer["data"]:
            return bool(refused)
        roots = {error["path"][0] for error in answer["errors"]}
        whole = expected["data"] or {}
        rest = [key for key in answer["data"] if key not in roots]
        return all(difference(answer["data"][key], whole.get(key)) is None for key in rest)


def located_errors(answer: Answer) -> list[tuple[str, str]]:
    """Return the paths and messages of the errors. An error that leaves no data may hide others."""
    errors = answer.get("errors") or ()
    return sorted((str(error["path"]), error["message"]) for error in errors)


def asks_the_schema_alone(document: Document) -> bool:
    return is_constant(document.operation.definition, document.operation.fragments)


EAGER = ("A list cannot have a negative size", "This is not a cursor", "This cursor is of", "first and last together")


def is_eager_error(error: Answer) -> bool:
    return str(error["message"]).startswith(EAGER)


def difference(actual: Any, expected: Any, path: str = "data") -> str | None:
    """Return where two answers first differ: the order of keys counts, cursors are compared by content."""
    if isinstance(actual, dict) and isinstance(expected, dict) and list(actual) == list(expected):
        pairs = [(f"{path}.{key}", actual[key], expected[key]) for key in actual]
    elif isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        pairs = [(f"{path}.{index}", *both) for index, both in enumerate(zip(actual, expected, strict=True))]
    else:
        return None if plain(actual) == plain(expected) else f"{path}: {actual!r:.600}, {expected!r:.600}"
    found = (difference(mine, its, where) for where, mine, its in pairs)
    return next((one for one in found if one), None)


def plain(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("Wy"):
        return [moment(item) for item in json.loads(base64.b64decode(value))]
    return value


def moment(value: Any) -> Any:
    try:
        return datetime.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        return value
