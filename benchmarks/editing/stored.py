"""Measures the storage that versions take, and the time of reading them and of renaming a hub."""

import random
from math import inf
from statistics import median
from time import perf_counter
from typing import Any

import orjson

from db.database import Database
from db.ids import new_id
from db.migrate import migrate
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.edits import edit_page
from resolvers.pages.lifecycle import create_page
from resolvers.pages.renaming import rename_page
from resolvers.tenants.tenants import create_tenant
from schema.root import make_engine

from .words import WORDS

HUB = 2_000
HISTORY = """
query ($id: ID!, $after: String) {
  node(id: $id) {
    ... on WikiPage {
      revisions(first: 50, after: $after) {
        nodes { version title editSummary createdAt }
        pageInfo { endCursor }
      }
    }
  }
}"""
BODY = "query ($id: ID!, $v: Int!) { node(id: $id) { ... on WikiPage { revision(version: $v) { bodyMd } } } }"


async def measure_storage(dsn: str, versions: int) -> list[tuple[str, str]]:
    await migrate(dsn)
    database = Database(dsn, size=2)
    await database.open()
    try:
        tenant = await create_tenant(database, "bench", "Bench")
        owner = await create_owner(database, tenant.id, OwnerKind.USER, "mara", "Mara")
        scope = Scope(tenant.id, owner.id, Role.ADMIN, Actor(ActorKind.USER, "mara"), (owner.id,))
        return [*await measure_history(database, scope, versions), *await measure_rename(database, scope)]
    finally:
        await database.close()


async def measure_history(database: Database, scope: Scope, versions: int) -> list[tuple[str, str]]:
    """Measure a thousand edits of a page of 20 kB, then page through the history of a page with `versions` versions."""
    rng = random.Random(11)
    body = "\n\n".join(" ".join(f"{rng.choice(WORDS)}{rng.randrange(999)}" for _ in range(50)) for _ in range(48))
    page_id = (await create_page(database, scope, PageDraft("topic", "Long", body=body))).page_id
    before, texts, times = await size_of(database), [body], []
    for number in range(1_000):
        words = texts[-1].split(" ")
        place = rng.randrange(1, len(words) - 1)
        old = " ".join(words[place - 1 : place + 2])
        started = perf_counter()
        await edit_page(
            database, scope, PageAddress(page_id), old_text=old, new_text=f"{old} edit{number}", replace_all=True
        )
        times.append(perf_counter() - started)
        texts.append(texts[-1].replace(old, f"{old} edit{number}"))
    growth_mb = (await size_of(database) - before) / 1e6
    read = [await read_state(database, scope, page_id, n + 1) for n in range(0, 1_001, 7)]
    assert [text for text, _ in read] == texts[::7], "every state is what it was"
    await insert_versions(database, scope, page_id, versions)
    pages = await time_history_pages(database, scope, page_id)
    return [
        ("an edit of a page of 20 kB", f"{median(times) * 1000:.1f} ms"),
        ("revisions of 1,000 edits of 20 kB", f"{growth_mb:.2f} MB with indexes"),
        ("a state of them read through GraphQL", f"{median(time for _, time in read) * 1000:.1f} ms"),
        (f"50 of {versions} versions, first, middle, last page", ", ".join(f"{one * 1000:.1f} ms" for one in pages)),
    ]


async def size_of(database: Database) -> int:
    async with database.connection() as connection:
        return int(await connection.raw.fetchval("SELECT pg_total_relation_size('revisions')"))


async def read_state(database: Database, scope: Scope, page_id: Any, version: int) -> tuple[str, float]:
    started = perf_counter()
    found = await execute(database, scope, BODY, id=str(page_id), v=version)
    return found["node"]["revision"]["bodyMd"], perf_counter() - started


ENGINE = make_engine()


async def execute(database: Database, scope: Scope, text: str, **variables: Any) -> Any:

    answer = orjson.loads((await ENGINE.execute(text, variables, None, Context(database, scope))).body)
    assert "errors" not in answer, answer
    return answer["data"]


async def insert_versions(database: Database, scope: Scope, page_id: Any, versions: int) -> None:
    """Insert copies of the last version until the page has `versions` versions: only their number matters."""
    copied = """
        INSERT INTO revisions (tenant_id, owner_id, id, page_id, version, title, body_md, author_kind, author_id)
        SELECT $1, $2, gen_random_uuid(), $3, n, 'T', 'short', 'user', 'mara' FROM generate_series(1002, $4) AS n"""
    async with database.connection() as connection:
        await connection.raw.execute(copied, scope.tenant_id, scope.owner_id, page_id, versions)
        await connection.raw.execute("ANALYZE revisions")


async def time_history_pages(database: Database, scope: Scope, page_id: Any) -> list[float]:
    """Return the seconds that reading the first, a middle and the last page of a history take."""
    times, after = [], None
    while True:
        started = perf_counter()
        found = await execute(database, scope, HISTORY, id=str(page_id), after=after)
        revisions = found["node"]["revisions"]
        if not revisions["nodes"]:
            break
        times.append(perf_counter() - started)
        after = revisions["pageInfo"]["endCursor"]
    return [median(times[1:4]), times[len(times) // 2], times[-1]]


async def measure_rename(database: Database, scope: Scope) -> list[tuple[str, str]]:
    hub_id = (await create_page(database, scope, PageDraft("topic", "Hub of all"))).page_id
    text = " ".join(WORDS * 40)
    for n in range(HUB):
        body = f"{text}\n\n## See\n\n[[Hub of all]]"
        await create_page(database, scope, PageDraft("topic", f"Page {n} {new_id()}", body=body))
    started = perf_counter()
    done = await rename_page(database, scope, hub_id, title="Hub of many", time_limit=inf)
    seconds = perf_counter() - started
    assert len(done.rewritten) == HUB
    return [(f"a rename that rewrites {HUB} texts", f"{seconds:.1f} s")]
