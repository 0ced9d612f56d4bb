"""The SQL, the cost and the plans of typical reads are equal to their stored snapshots."""

import asyncio
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import asyncpg
import orjson
import pytest
from graphql import DocumentNode, parse, print_ast

from tests.conftest import database_copy, shared_resource
from tests.schema.read_snapshots import FOLDER, POSTGRES, document, names, snapshots, without_plan, write_world

ROOT = Path(__file__).parents[3]
STORED = {"rest": ROOT / "app" / "rest" / "queries", "mcp": ROOT / "app" / "mcp" / "queries"}
LINES_MAX = 80  # of a difference, in the message of a failed test


@pytest.fixture(scope="session")
def current(server_dsn: str, template: str, shared_folder: Path) -> Iterator[dict[str, str]]:
    """The snapshots of the current code by name, which the first worker of a run takes."""

    def make() -> str:
        with database_copy(server_dsn, template) as dsn:
            asyncio.run(write_world(dsn))
            return orjson.dumps(asyncio.run(snapshots(dsn))).decode()

    with shared_resource(shared_folder / "snapshots", make, lambda text: None) as text:
        yield orjson.loads(text)


@pytest.fixture(scope="session")
def is_known_planner(server_dsn: str) -> bool:
    """Whether the server makes the same plans as the one with which the snapshots were written."""

    async def ask() -> bool:
        connection = await asyncpg.connect(server_dsn)
        try:
            major = connection.get_server_version().major
            return major == POSTGRES and not await connection.fetchval(
                "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"
            )
        finally:
            await connection.close()

    return asyncio.run(ask())


@pytest.mark.parametrize("name", names())
def test_a_read_matches_its_snapshot(current: dict[str, str], is_known_planner: bool, name: str) -> None:
    path = FOLDER / f"{name}.sql"
    stored, now = path.read_text(encoding="utf-8") if path.exists() else "", current[name]
    if not is_known_planner:
        stored, now = without_plan(stored), without_plan(now)
    if stored != now:
        difference = list(unified_diff(stored.splitlines(), now.splitlines(), f"{name}.sql", "now", lineterm="", n=2))
        shown = "\n".join(difference[:LINES_MAX])
        pytest.fail(f"{name} differs from its snapshot. Run: make snapshots, and review the difference.\n{shown}")


def test_every_snapshot_file_belongs_to_an_operation() -> None:
    known = {f"{name}.{ending}" for name in names() for ending in ("graphql", "sql", "json")}
    assert {path.name for path in FOLDER.iterdir()} <= known


@pytest.mark.parametrize("name", [name for name in names() if name.partition("_")[0] in STORED])
def test_rest_and_mcp_snapshots_use_the_documents_they_send(name: str) -> None:
    documents = [definitions(parse(path.read_text())) for path in STORED[name.partition("_")[0]].glob("*.graphql")]
    assert any(definitions(parse(document(name))) <= one for one in documents), "copy the document of the client again"


def definitions(found: DocumentNode) -> set[str]:
    """Return the printed operations and fragments of a document."""
    return {print_ast(one) for one in found.definitions}


def test_the_plan_can_be_removed_from_a_snapshot() -> None:
    text = (FOLDER / "tags.sql").read_text()
    rest = without_plan(text)
    assert "Scan" in text
    assert "Scan" not in rest
    assert rest.startswith("-- query Tags\n")
    assert rest.endswith(";\n")
