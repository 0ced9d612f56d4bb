"""The large search database has the rows that the product writes, also after an interrupted fill."""

import asyncio
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import asyncpg

from benchmarks.search.cairn import scope_of
from benchmarks.search.corpus import fill_database, is_indexed
from benchmarks.search.prose import Author, Stock, Text
from benchmarks.search.writes import draft
from benchmarks.wikis import wiki
from content.search.words import ANALYSER
from db.database import Database
from resolvers.pages.lifecycle import create_page
from resolvers.pages.upsert import count_new_words
from resolvers.search.lexemes import scope_letter

ROOT = Path(__file__).resolve().parents[2]
TEXTS = tuple(
    Text(
        f"Harbour guide {n}",
        (f"Ferries leave pier {n} at noon.", "The tide turns. Ropes are thrown."),
        ("Tides", "Piers"),
    )
    for n in range(12)
)
STOCK = Stock((TEXTS,), ((Text("港 案内", ("船は正午に出る。",), ()),),))
WIKIS = [wiki(number, number, 60) for number in range(10, 14)]
WORDS = """
    SELECT p.title, s.status, s.type, s.tags, s.title_words, s.words,
           replace(s.tsv::text, $3, '') AS tsv, replace(s.name_tsv::text, $3, '') AS name_tsv
    FROM search_pages s JOIN pages p ON p.tenant_id = $1 AND p.id = s.page_id
    WHERE s.tenant_id = $1 AND s.owner_id = $2 ORDER BY p.slug
"""


def main(dsn: str) -> None:
    asyncio.run(fill_database(dsn, "test", WIKIS, STOCK, lambda pages: print(pages, flush=True)))


async def words(connection: asyncpg.Connection, tenant: object, owner: object) -> list[tuple[object, ...]]:
    letter = scope_letter(tenant, owner, ANALYSER)  # type: ignore[arg-type]
    return [tuple(row) for row in await connection.fetch(WORDS, tenant, owner, letter)]


def fill_until_killed(dsn: str) -> None:
    command = [sys.executable, "-c", f"from {__name__} import main; main({dsn!r})"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as filling:
        assert filling.stdout is not None
        written = 0
        while written < len(WIKIS) * 60 // 3:
            written += int(filling.stdout.readline())
        filling.send_signal(signal.SIGKILL)


async def test_a_killed_fill_resumes_and_writes_the_same_rows_as_the_product(dsn: str) -> None:
    await asyncio.to_thread(fill_until_killed, dsn)
    connection = await asyncpg.connect(dsn)
    assert not await is_indexed(connection)
    done: list[int] = []
    await fill_database(dsn, "test", WIKIS, STOCK, done.append)
    assert sum(done) == 240
    assert done[0] < 240
    assert await is_indexed(connection)
    scopes = await connection.fetch("SELECT state, pages FROM search_scopes")
    assert [tuple(row) for row in scopes] == [("ready", 60)] * 4

    own, copy = WIKIS[2], wiki(20, 20, 60)
    database = Database(dsn, size=1)
    await database.open()
    await connection.execute("INSERT INTO tenants (tenant_id, slug, name) VALUES ($1, 'copy', 'Copy')", copy.tenant_id)
    await connection.execute(
        "INSERT INTO owners (tenant_id, id, kind, slug, name) VALUES ($1, $2, 'user', 'o', 'O')",
        copy.tenant_id, copy.owner_id,
    )  # fmt: skip
    for article in Author(own, STOCK).articles():
        await create_page(database, scope_of(copy), replace(draft(article), slug=article.page.slug))
    await count_new_words(database, scope_of(copy))
    await database.close()
    assert await words(connection, copy.tenant_id, copy.owner_id) == await words(
        connection, own.tenant_id, own.owner_id
    )
    counted = "SELECT shelf, pages FROM search_counts WHERE tenant_id = $1 AND owner_id = $2 ORDER BY 1"
    assert await connection.fetch(counted, copy.tenant_id, copy.owner_id) == await connection.fetch(
        counted, own.tenant_id, own.owner_id
    )
    await connection.close()
