"""`make snapshots` writes the SQL, the cost and the shape of the plan of each operation in tests/schema/snapshots."""

import asyncio
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from benchmarks.wikis import wiki, write_wikis
from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements
from resolvers.context import Context
from schema.root import make_engine
from selection.execute.explain import ExplainedStatement, explain
from tests.plans.measurements import CONTROL, OTHERS, SMALL
from tests.recording_database import RecordingDatabase, SentStatement
from tests.sql_text import NOUNS

FOLDER = Path(__file__).with_name("snapshots")
PLACE = wiki(1, 1, 1000, hub=200)
"""It is large enough for indexes to be used, and so small that ANALYZE reads every row: plans are stable."""
WORLD = [PLACE, SMALL, *OTHERS]
CALLER = Scope(
    PLACE.tenant_id, PLACE.owner_id, Role.ADMIN, Actor(ActorKind.USER, "reader"), (PLACE.owner_id,)
)  # fmt: skip
"""The caller is an admin, who may read everything."""
POSTGRES = 18
"""The snapshots show plans of this major version. Another one may have better plans."""
PLANNER = {
    "random_page_cost": "1.1", "seq_page_cost": "1", "effective_cache_size": "4GB", "work_mem": "16MB", "jit": "off",
    "max_parallel_workers_per_gather": "2",
}  # fmt: skip
"""Servers differ in these settings, and plans depend on them."""
NODE = re.compile(r"\s*(?:->  |(?:SubPlan|InitPlan|CTE) )")
PLAN = re.compile(r"^-- plan:\n(?:--   .*\n)*", re.MULTILINE)


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.graphql"))


def document(name: str) -> str:
    return (FOLDER / f"{name}.graphql").read_text(encoding="utf-8")


def variables(name: str) -> dict[str, Any]:
    path = FOLDER / f"{name}.json"
    found: dict[str, Any] = orjson.loads(path.read_bytes()) if path.exists() else {}
    return found


async def snapshots(dsn: str) -> dict[str, str]:
    """Return the text of each snapshot by its name. The database holds WORLD."""
    return {name: await snapshot(dsn, name) for name in names()}


async def snapshot(dsn: str, name: str) -> str:
    """Execute the operation as the first one of a process, and describe the statements that it sent."""
    engine, database = make_engine(), RecordingDatabase(dsn)
    explanation = await explain(engine, document(name), variables(name), None, CALLER)
    await database.open()
    try:
        (await database.sent_statements()).clear()
        context = Context(database, CALLER)
        answer = orjson.loads((await engine.execute(document(name), variables(name), None, context)).body)
        assert "errors" not in answer, f"{name}: {answer['errors']}"
        assert context.spent == explanation.cost, f"{name} costs {context.spent}, explained as {explanation.cost}"
        sent = [one for one in await database.sent_statements() if not one.sql.startswith(CONTROL)]
        described = [(one, explanation.statement(one.sql)) for one in sent]
        assert any(found for _, found in described), f"{name} sent none of the statements that explain tells"
        blocks = [
            [*found.comments(), "plan:", *(f"  {line}" for line in await shape(database, one, found))]
            for one, found in described
            if found is not None
        ]
    finally:
        await database.close()
    head = [explanation.operation, f"cost: {explanation.cost}", f"statements: {len(sent)}"]
    head += [f"  {label(one, found)}" for one, found in described if len(sent) > 1]
    texts = [found.text for _, found in described if found is not None]
    parts = [f"{comment(lines)}\n{text}\n" for lines, text in zip(blocks, texts, strict=True)]
    return "\n".join([comment(head), *parts]) if len(parts) > 1 else f"{comment(head)}{''.join(parts)}"


def comment(lines: list[str]) -> str:
    return "".join(f"-- {line}".rstrip() + "\n" for line in lines)


def label(sent: SentStatement, found: ExplainedStatement | None) -> str:
    """Return the name of a statement of db/queries, or say which of the compiled ones it is."""
    if found is not None:
        return f"the field {found.field}, below" if found.field else "the compiled one, below"
    return NAMED_STATEMENTS.get(sent.sql) or "one that is written in Python"


NAMED_STATEMENTS = {
    statement.sql: f"{name} of db/queries/{noun}.sql" for noun in NOUNS for name, statement in statements(noun).items()
}


async def shape(database: Database, sent: SentStatement, statement: ExplainedStatement) -> list[str]:
    """Return the nodes of the plan with their tables and indexes: no conditions, and nothing that is estimated."""
    async with database.explaining() as connection:
        for setting, value in PLANNER.items():
            await connection.raw.execute(f"SET LOCAL {setting} = '{value}'")
        rows = await connection.rows(sent.sql, sent.arguments, ["COSTS OFF"], statement.is_custom)
    return [line for place, line in enumerate(rows) if place == 0 or NODE.match(line)]


def without_plan(text: str) -> str:
    return PLAN.sub("", text)


async def write_world(dsn: str) -> None:
    """Write WORLD into a migrated, empty database."""
    await write_wikis(dsn, WORLD)


def main() -> int:
    """Rewrite the snapshots, with the Postgres that comes with Cairn."""
    with TemporaryDirectory(prefix="cairn-snapshots-") as folder, EmbeddedServer(Path(folder), durable=False) as dsn:
        asyncio.run(migrate(dsn))
        asyncio.run(write_world(dsn))
        taken = asyncio.run(snapshots(dsn))
    changed = [name for name, text in taken.items() if write(FOLDER / f"{name}.sql", text)]
    for path in sorted(FOLDER.glob("*.sql")):
        if path.stem not in taken:
            path.unlink()
            changed.append(f"{path.stem} (removed)")
    print(f"{len(taken)} snapshots, {len(changed)} changed: {', '.join(changed) or 'none'}")
    return 0


def write(path: Path, text: str) -> bool:
    """Write the file, and return whether that changed it."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main())
