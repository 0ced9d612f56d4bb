"""Real requests execute each file that docs/explanation/architecture.md names along a query and a write."""

import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import asyncpg
import pytest

from db import database
from db.sql import statements, strip_comments
from tests.app.service import serving
from tests.wiki import close_wiki, open_wiki

ROOT = Path(__file__).parents[1]
PRODUCT = ("app", "schema", "compiler", "resolvers", "db", "selection", "content", "lib", "observability")
TIMERS = {"app/observability/event_loop_watchdog.py"}  # which run beside requests
WARM_READ = 25  # files that somebody new has to read to follow it
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
FILE = re.compile(r"`([\w/]+\.(?:py|sql))`")
VALUE = re.compile(r"\$\d+|'[0-9a-f-]{36}'")
DOCUMENT = re.compile(r"^```graphql\n(.*?)^```", re.DOTALL | re.MULTILINE)


def walk(title: str) -> tuple[str, list[str]]:
    """Return the document and the files of the section that begins with this title."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}")
    section = rest.partition("\n## ")[0]
    (document,) = DOCUMENT.findall(section)
    return document, FILE.findall(DOCUMENT.sub("", section))


def shape(sql: str) -> str:
    """Return a statement without its values, as parameters have other numbers in a batch of statements."""
    return VALUE.sub("?", sql)


class Executed:
    """Collects the files whose functions are called, in this thread and in those of thread pools."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: set[str] = set()
        self.sent: set[str] = set()
        monkeypatch.setattr(ThreadPoolExecutor, "submit", self.submitted(ThreadPoolExecutor.submit))
        monkeypatch.setattr(database, "prepare_connection", self.prepared(database.prepare_connection))

    def submitted(self, submit: Callable[..., Future[Any]]) -> Callable[..., Future[Any]]:
        def traced(pool: ThreadPoolExecutor, call: Callable[..., Any], *given: Any, **named: Any) -> Future[Any]:
            def run() -> Any:
                with self.collecting():
                    return call(*given, **named)

            return submit(pool, run)

        return traced

    def prepared(self, prepare: Callable[[asyncpg.Connection], Any]) -> Callable[[asyncpg.Connection], Any]:
        async def logged(connection: asyncpg.Connection) -> None:
            await prepare(connection)
            connection.add_query_logger(lambda record: self.sent.add(record.query))

        return logged

    @contextmanager
    def collecting(self) -> Iterator[None]:
        before = sys.getprofile()
        sys.setprofile(self.call)
        try:
            yield
        finally:
            sys.setprofile(before)

    def call(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self.files.add(frame.f_code.co_filename)

    def includes(self, path: str) -> bool:
        """Return whether a function of the Python file was called, or a statement of the SQL file was sent."""
        if path.endswith(".py"):
            return str(ROOT / path) in self.files
        noun = path.removeprefix("db/queries/").removesuffix(".sql")
        shapes = [shape(strip_comments(statement.sql)) for statement in statements(noun).values()]
        return any(one in shape(sent) for one in shapes for sent in self.sent)


async def test_every_file_of_the_walkthroughs_is_executed(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki = await open_wiki(dsn)
    executed = Executed(monkeypatch)
    missing = []
    async with serving(dsn, tmp_path) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)
        for title, given in (
            ("A write: `createWikiPage`", {}),
            ("A query: `wikiPage`", {"tenantId": str(wiki.scope.tenant_id)}),
        ):
            document, files = walk(title)
            assert len(files) > 10, "the page has another form than the test reads"
            executed.files.clear()
            executed.sent.clear()
            with executed.collecting():
                answer = await service.ask(document, token, **given)
            assert "errors" not in answer
            assert all(answer["data"].values()), "the query must find the page that the write made"
            missing += [f"{title}: {path}" for path in files if not executed.includes(path)]
    await close_wiki(wiki)
    assert missing == []


async def test_a_warm_read_executes_few_files(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wiki = await open_wiki(dsn)
    executed = Executed(monkeypatch)
    write, _ = walk("A write: `createWikiPage`")
    read, _ = walk("A query: `wikiPage`")
    async with serving(dsn, tmp_path) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)
        given = {"tenantId": str(wiki.scope.tenant_id)}
        await service.ask(write, token)
        first = await service.ask(read, token, **given)
        executed.files.clear()
        with executed.collecting():
            assert await service.ask(read, token, **given) == first
    await close_wiki(wiki)
    paths = {str(Path(file).relative_to(ROOT)) for file in executed.files if file.startswith(f"{ROOT}/")}
    ours = sorted(path for path in paths - TIMERS if path.startswith(PRODUCT))
    assert "db/database.py" in ours, "the read was not seen"
    assert len(ours) <= WARM_READ, ours


def test_every_path_on_the_architecture_page_exists() -> None:
    named = re.findall(r"`((?:app|schema|compiler|resolvers|db|selection|content|tests)/[\w/.]*)`", PAGE.read_text())
    assert [path for path in named if not (ROOT / path).exists()] == []
