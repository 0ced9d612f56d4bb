"""Compares Cairn's search with others on the same wikis: the cost of a question, and whether it gets a result."""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import asyncpg
import orjson
import typer
import uvloop
from rich.console import Console
from rich.progress import Progress

from resolvers.search.request import SearchRequest
from resolvers.search.search import search

from ..wikis import Wiki
from . import comparison, seed, seed_tables
from .backend import Backend, processor_of, watched
from .cairn import scope_of
from .collection import Collection, Document
from .comparison import SMALL, Answer, Answers, Found
from .corpus import DEFAULT_FOLDER, TENTH, WHOLE, Folder, connected, dsn_of, served
from .latency import FIRST, WIDTH, Plan, draw_questions, measured_wikis
from .peers import Search, fts5, tantivy
from .prose import Stock, stock

KINDS = ("rare word", "common word", "two common", "question of 8", "title", "prefix", "one typo")
DOCUMENTS = """
    SELECT id::text, title, coalesce(summary, '') AS summary, body_md, slug,
           ARRAY(SELECT name FROM aliases WHERE aliases.tenant_id = pages.tenant_id AND page_id = pages.id) AS aliases
    FROM pages WHERE tenant_id = $1 AND owner_id = $2 ORDER BY id
"""
stderr = Console(stderr=True)


@dataclass(frozen=True, slots=True)
class System:
    """A search engine. `ask` returns how many pages it found, and `processor` its CPU milliseconds so far."""

    ask: Callable[[str], Awaitable[int]]
    processor: Callable[[], float]


Systems = Mapping[str, System]
SystemsOfWiki = dict[str, Callable[[Wiki], System]]


def compare(
    folder: Folder = DEFAULT_FOLDER,
    data: Annotated[
        Path | None, typer.Option(help="The folder of collections.", show_default="beside the checkout")
    ] = None,
    pages_list: Annotated[str, typer.Option(help="Sizes of wikis, separated by commas.")] = "1000,10000",
    count: Annotated[int, typer.Option("--questions", min=1, help="Different questions of each kind.")] = 20,
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds of each question.")] = 2,
    json: Annotated[Path | None, typer.Option(help="A JSON file for all figures.")] = None,
) -> None:
    """Compare the cost of this search, the seed's, FTS5 and tantivy in the database that `corpus` writes."""
    material, sizes = stock(data), numbers(pages_list)
    with served(folder) as dsn:
        found = uvloop.run(measure_sizes(dsn, material, sizes, Plan(count, rounds)))
    Console(width=max(WIDTH, Console().width)).print(*comparison.tables(found), sep="\n")
    if json is not None:
        json.write_bytes(orjson.dumps(comparison.as_json(found), option=orjson.OPT_INDENT_2))


def numbers(text: str) -> list[int]:
    """Parse numbers separated by commas. Returns them in ascending order without repetitions."""
    try:
        return sorted({int(number) for number in text.split(",")})
    except ValueError:
        raise typer.BadParameter(f"{text} is not a list of numbers such as 1000,10000.") from None


async def measure_sizes(dsn: str, material: Stock, sizes: list[int], plan: Plan) -> Found:
    wikis_by_size = {wiki.pages: wiki for wiki in await measured_wikis(dsn)}
    if missing := [size for size in sizes if size not in wikis_by_size]:
        raise typer.BadParameter(
            f"The database has no wikis of {missing} pages. It has wikis of {list(wikis_by_size)} pages."
        )
    found: Found = {}
    async with AsyncExitStack() as stack:
        searches = await open_searches(stack, dsn)
        for wiki in (wikis_by_size[size] for size in sizes):
            small = wiki.pages == min(wikis_by_size)
            systems = {name: of(wiki) for name, of in searches.items() if small or name not in SMALL.values()}
            systems |= local_searches(Collection("wiki", await documents(dsn, wiki), (), {}))
            drawn = {
                kind: texts for kind, texts in draw_questions(wiki, material, plan.questions).items() if kind in KINDS
            }
            found[wiki.pages] = await measure_questions(systems, drawn, plan.rounds, f"{wiki.pages:,} pages")
    return found


async def open_searches(stack: AsyncExitStack, dsn: str) -> SystemsOfWiki:
    """Open the searches inside Postgres, on the whole database and on the one with a tenth of the pages."""
    found: SystemsOfWiki = {}
    for database, names in ((WHOLE, SMALL.keys()), (TENTH, SMALL.values())):
        ours, origin = names
        backend = await stack.enter_async_context(Backend(dsn_of(dsn, database)))
        connection = await connect_to_seed(stack, dsn, database)
        found |= {ours: partial(cairn_system, backend), origin: partial(seed_system, connection)}
    return found


async def connect_to_seed(stack: AsyncExitStack, dsn: str, database: str) -> asyncpg.Connection:
    """Return a connection to the copy of a database in the seed's tables, which is made once."""
    connection = await seed.connect(dsn, f"{seed.DATABASE}_{database}")
    stack.push_async_callback(connection.close)
    async with connected(dsn_of(dsn, database)) as cairn:
        with stderr.status(f"Copying the pages of {database} to the seed's tables"):
            await seed_tables.copy(cairn, connection)
    return connection


def cairn_system(backend: Backend, wiki: Wiki) -> System:
    scope = scope_of(wiki)

    async def ask(text: str) -> int:
        return len((await search(backend.database, scope, SearchRequest(text, first=FIRST))).hits)

    return System(ask, backend.processor)


def seed_system(connection: asyncpg.Connection, wiki: Wiki) -> System:
    scope = scope_of(wiki)

    async def ask(text: str) -> int:
        return len(await seed.search(connection, scope, text, FIRST))

    return System(ask, processor_of(connection.get_server_pid()))


def local_searches(collection: Collection) -> Systems:
    """Return the searches inside this process whose libraries are installed."""
    found = {}
    for name, open_search in (("FTS5", fts5), ("tantivy", tantivy)):
        try:
            find = open_search(collection, FIRST)
        except ImportError as error:
            stderr.print(f"{name} is not measured: {error}. Try: pip install 'cairn-wiki[benchmarks]'")
            continue

        async def ask(text: str, find: Search = find) -> int:
            return len(find(text))

        found[name] = System(ask, lambda: time.process_time() * 1000)
    return found


async def documents(dsn: str, wiki: Wiki) -> list[Document]:
    async with connected(dsn) as connection:
        rows = await connection.fetch(DOCUMENTS, wiki.tenant_id, wiki.owner_id)
    return [
        Document(row["id"], row["title"], row["body_md"], row["slug"], row["summary"], tuple(row["aliases"]))
        for row in rows
    ]


async def measure_questions(
    systems: Systems, drawn: dict[str, list[str]], rounds: int, title: str
) -> dict[str, Answers]:
    """Return the measured answers by system and kind of question. The first round only warms the caches."""
    found: dict[str, Answers] = {name: {kind: [] for kind in drawn} for name in systems}
    with Progress(console=stderr, disable=not stderr.is_terminal) as bars:
        task = bars.add_task(title, total=len(drawn) * (rounds + 1))
        for kind, texts in drawn.items():
            for number in range(rounds + 1):
                for text in texts:
                    for name, system in systems.items():
                        answer = await measure_question(system, text)
                        if number:
                            found[name][kind].append(answer)
                bars.advance(task)
    return found


async def measure_question(system: System, text: str) -> Answer:
    with watched(system.processor) as spent:
        pages = await system.ask(text)
    return Answer(spent, pages > 0)
