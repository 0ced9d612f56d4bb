"""Measures every case in two wikis, with both kinds of plan, before and after other wikis grow by 10,000 pages."""

from dataclasses import dataclass
from typing import Any

import asyncpg
import orjson

from benchmarks.wikis import Wiki, wiki, write_wikis
from db.connection import prepare_connection
from db.database import SET_CUSTOM_PLAN
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.context import Context
from schema.root import make_engine
from selection import Engine
from tests.plans.cases import CASES, Case, values
from tests.plans.explain import Execution, Planning, explain
from tests.recording_database import RecordingDatabase

LARGE, SMALL = wiki(1, 1, 2500, hub=500), wiki(2, 2, 500)
OTHERS = [wiki(1, 3, 50), wiki(3, 4, 400), *(wiki(4, number, 20) for number in range(10, 30))]
GROWTH = [wiki(tenant, tenant, 1000) for tenant in range(100, 110)]


@dataclass(frozen=True)
class Measurement:
    """The cost of one case. A response of `objects` objects read `before` blocks when the other wikis were small."""

    name: str
    planning: str
    pages: int
    objects: int
    before: int
    blocks: int
    scanned: list[str]
    indexes: list[str]
    costliest_node: str


async def measure_growing(dsn: str) -> list[Measurement]:
    """Measure in an empty database, which is filled afterwards."""
    await write_wikis(dsn, [LARGE, SMALL, *OTHERS])
    before = {key: sum(run.blocks for run in runs) for key, (_, runs) in (await measure(dsn)).items()}
    await write_wikis(dsn, GROWTH)
    return [
        Measurement(
            *key,
            objects=objects,
            before=before[key],
            blocks=sum(run.blocks for run in runs),
            scanned=sorted(set().union(*(run.scanned for run in runs))),
            indexes=sorted(set().union(*(run.indexes for run in runs))),
            costliest_node="; ".join(run.costliest_node() for run in runs),
        )
        for key, (objects, runs) in (await measure(dsn)).items()
    ]


Key = tuple[str, str, int]
CONTROL = ("BEGIN", "SET", "COMMIT")


async def measure(dsn: str) -> dict[Key, tuple[int, list[Execution]]]:
    """Return how many objects each case returns, and the plans of its statements."""
    database, engine = RecordingDatabase(dsn), make_engine()
    await database.open()
    connection = await asyncpg.connect(dsn)
    await prepare_connection(connection)
    found: dict[Key, tuple[int, list[Execution]]] = {}
    try:
        for name, case in CASES.items():
            for place in (LARGE, SMALL):
                answer = await run_case(engine, database, case, place)
                recorded = await database.sent_statements()
                statements = [sent for sent in recorded if not sent.sql.startswith(CONTROL)]
                is_anew = any(sent.sql == SET_CUSTOM_PLAN for sent in recorded)
                for planning in Planning:
                    planned = Planning.CUSTOM if is_anew else planning
                    runs = [await explain(connection, sent, planned) for sent in statements]
                    found[name, planning.name, place.pages] = (objects(answer), runs)
    finally:
        await connection.close()
        await database.close()
    return found


async def run_case(engine: Engine, database: RecordingDatabase, case: Case, place: Wiki) -> dict[str, Any]:
    """Return the response, from the second page of a list with cursors. The database has recorded only the last run."""
    variables, document = values(place), case.document
    if "$after" in document:
        first = await run_document(engine, database, document, place, variables)
        variables["after"] = first[case.root]["pageInfo"]["endCursor"]
    return await run_document(engine, database, document, place, variables)


async def run_document(
    engine: Engine, database: RecordingDatabase, document: str, place: Wiki, variables: dict[str, Any]
) -> dict[str, Any]:
    (await database.sent_statements()).clear()
    caller = Scope(place.tenant_id, place.owner_id, Role.ADMIN, Actor(ActorKind.USER, "reader"), (place.owner_id,))
    answer = orjson.loads((await engine.execute(document, variables, None, Context(database, caller))).body)
    assert "errors" not in answer, answer["errors"]
    data: dict[str, Any] = answer["data"]
    return data


def objects(value: Any) -> int:
    """Return the number of objects at all levels of a response."""
    if isinstance(value, list):
        return sum(map(objects, value))
    return 1 + sum(map(objects, value.values())) if isinstance(value, dict) else 0
