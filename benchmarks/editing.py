"""What edits and the history they leave cost: python -m benchmarks.editing.

First 10,000 generated edits, each of which must change its own words alone and come back from the history; then the
time of each pass, the room that versions take, and the time of reading them and of renaming a hub.
"""

import random
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Annotated, Any

import orjson
import typer
import uvloop
from rich.console import Console
from rich.table import Table

from content.deltas import restored
from content.differences import difference
from content.edits import EditAmbiguous, EditFailed, edit
from db.database import Database
from db.embedded import EmbeddedServer
from db.ids import new_id
from db.migrate import migrate
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.addresses import PageAddress
from resolvers.context import Context
from resolvers.edits import edit_page
from resolvers.owners import OwnerKind, create_owner
from resolvers.pages import PageDraft, create_page
from resolvers.renaming import REWRITTEN_MAX, rename_page
from resolvers.states import spared
from resolvers.tenants import create_tenant
from schema.root import make_engine

WORDS = [
    "kettle", "grinder", "café", "日本", "roast", "bean", "harbour", "river", "🐘", "stone", "filter", "origin",
    "naïve", "latte", "mocha",
]  # fmt: skip
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
BREAK = re.compile(r"\r\n|\r|\n")


def main(
    edits: Annotated[int, typer.Option(min=1, help="Generated edits to check.")] = 10_000,
    versions: Annotated[int, typer.Option(min=100, help="Versions of the page with a long history.")] = 10_000,
) -> None:
    """Check and measure edits, history and renames."""
    console = Console()
    console.print(f"{edits} generated edits: {checked(edits)} by pass; all of them kept what they do not name.")
    figures = [*passes(), *differences()]
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedServer(Path(folder) / "data", durable=False) as dsn:
            figures += uvloop.run(stored(dsn, versions))
    table = Table("what", "figure")
    for name, figure in figures:
        table.add_row(name, figure)
    console.print(table)


# -- generated edits


def checked(count: int) -> dict[str, int]:
    """How many each pass found. A text lives through the edits, and its states are kept as the product keeps them."""
    rng = random.Random(7)
    tally: dict[str, int] = {}
    text, base, age = page_of(rng, 60), "", 0
    for _ in range(count):
        before, own, after = parted(rng, text)
        old, new, wanted = told(rng, own)
        try:
            found = edit(before + own + after, old, new)
        except (EditAmbiguous, EditFailed) as error:
            name = type(error).__name__
            assert name == "EditAmbiguous", (own, old)
            tally[name] = tally.get(name, 0) + 1
            continue
        assert found.text == before + wanted + after, (own, old, new)
        tally[found.matched_by] = tally.get(found.matched_by, 0) + 1
        text = found.text if len(found.text) < 20_000 else page_of(rng, 60)
        age += 1
        delta = spared(base, text, age) if base else None
        if delta is None:
            base, age = text, 0
        else:
            assert restored(base, delta) == text
    return tally


def page_of(rng: random.Random, paragraphs: int) -> str:
    """Paragraphs and lists, some of them nearly the same, with line ends of one kind or mixed."""
    ends = rng.choice([["\n"], ["\r\n"], ["\n", "\r\n"]])
    rows: list[str] = []
    for n in range(paragraphs):
        indent = rng.choice(["", "  ", "\t", "    - "])
        line = " ".join(rng.choices(WORDS, k=rng.randrange(1, 12)))
        rows += [f"{indent}{line} {rng.choice([n, 'same'])}", *([""] if rng.random() < 0.4 else [])]
    return "".join(row + rng.choice(ends) for row in rows)


def parted(rng: random.Random, text: str) -> tuple[str, str, str]:
    """Some whole lines of the text, with at least a word in them."""
    rows = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)
    while True:
        start = rng.randrange(len(rows))
        end = min(len(rows), start + rng.randrange(1, 6))
        own = "".join(rows[start:end])
        if own.strip():
            return "".join(rows[:start]), own, "".join(rows[end:])


def told(rng: random.Random, own: str) -> tuple[str, str, str]:
    """(old, new, what must come of it): a word is changed in lines that are told with other whitespace."""
    words = list(re.finditer(r"\S+", own))
    place = rng.randrange(len(words))
    change = f"edited{rng.randrange(10**6)}"
    rewrites: list[Callable[[str], str]] = [
        lambda text: text,
        lambda text: BREAK.sub("\n", text),
        lambda text: "\n".join(line.strip() for line in BREAK.split(text)),
        lambda text: "\n".join("\t" + line.lstrip() for line in BREAK.split(text)),
        lambda text: " ".join(text.split()),
        lambda text: re.sub(r"\s+", "\n", text.strip()),
    ]
    old = rng.choice(rewrites)(own)
    spot = list(re.finditer(r"\S+", old))[place]
    new = old[: spot.start()] + change + old[spot.end() :]
    return old, new, own[: words[place].start()] + change + own[words[place].end() :]


# -- time of the passes


def passes() -> Iterator[tuple[str, str]]:
    rng = random.Random(3)
    lines = [f"- {' '.join(rng.choices(WORDS, k=10))} {n}" for n in range(1_600)]
    text = "\n".join(lines)
    target = "\n".join(lines[1_590:1_594])
    cases = {
        "exact": target,
        "lines": target.replace("- ", "  - "),
        "whitespace": " ".join(target.split()),
        "indentation": "    " + "\n".join(line.removeprefix("- ") for line in lines[1_590:1_591]),
        "block": target.replace("kettle", "kettel").replace("roast", "roost").replace("bean", "been") + " x",
        "nowhere": "nothing like it\nin the whole text\nat all",
    }
    for name, old in cases.items():
        yield f"{name}, {len(text.encode()) // 1000} kB", f"{taken(text, old):.1f} ms of CPU"
    alike = "\n".join(["the very same line of the text"] * 3_300)
    yield (
        "a hundred kB of equal lines, block",
        f"{taken(alike, 'the very same line of a text' + chr(10) * 1 + 'x y' * 9):.1f} ms of CPU",
    )
    half = "\n".join(["the very same line of the text"] * 1_500)
    yield "the same, half of it misremembered", f"{taken(alike, half.replace('very', 'vary')):.1f} ms of CPU"
    single = " ".join(rng.choices(WORDS, k=14_000))
    yield (
        "one line of 100 kB, nowhere",
        f"{taken(single, single[1_000:51_000].replace('kettle', 'kxttle')):.1f} ms of CPU",
    )


def taken(text: str, old: str) -> float:
    times = []
    for _ in range(5):
        started = process_time()
        with suppress(EditFailed, EditAmbiguous):
            edit(text, old, old + " more")
        times.append(process_time() - started)
    return median(times) * 1000


def differences() -> Iterator[tuple[str, str]]:
    rng = random.Random(5)
    for rows in (1_000, 10_000):
        old = [f"{' '.join(rng.choices(WORDS, k=10))}\n" for _ in range(rows)]
        new = [line if rng.random() < 0.9 else f"{' '.join(rng.choices(WORDS, k=10))}\n" for line in old]
        started = process_time()
        difference("".join(old), "".join(new))
        yield f"difference of {rows} lines, a tenth changed", f"{(process_time() - started) * 1000:.0f} ms of CPU"


# -- what is stored


async def stored(dsn: str, versions: int) -> list[tuple[str, str]]:
    await migrate(dsn)
    database = Database(dsn, size=2)
    await database.open()
    try:
        tenant = await create_tenant(database, "bench", "Bench")
        owner = await create_owner(database, tenant.id, OwnerKind.USER, "mara", "Mara")
        scope = Scope(tenant.id, owner.id, Role.ADMIN, Actor(ActorKind.USER, "mara"), (owner.id,))
        return [*await history(database, scope, versions), *await hub(database, scope)]
    finally:
        await database.close()


async def history(database: Database, scope: Scope, versions: int) -> list[tuple[str, str]]:
    """A thousand edits of a page of 20 kB; then as many versions as wanted, whose history is paged."""
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
    grown = (await size_of(database) - before) / 1e6
    read = [await read_state(database, scope, page_id, n + 1) for n in range(0, 1_001, 7)]
    assert [text for text, _ in read] == texts[::7], "every state is what it was"
    await repeat(database, scope, page_id, versions)
    pages = await walk(database, scope, page_id)
    return [
        ("an edit of a page of 20 kB", f"{median(times) * 1000:.1f} ms"),
        ("revisions of 1,000 edits of 20 kB", f"{grown:.2f} MB with indexes"),
        ("a state of them read through GraphQL", f"{median(time for _, time in read) * 1000:.1f} ms"),
        (f"50 of {versions} versions, first, middle, last page", ", ".join(f"{one * 1000:.1f} ms" for one in pages)),
    ]


async def size_of(database: Database) -> int:
    async with database.connection() as connection:
        return int(await connection.raw.fetchval("SELECT pg_total_relation_size('revisions')"))


async def read_state(database: Database, scope: Scope, page_id: Any, version: int) -> tuple[str, float]:
    started = perf_counter()
    found = await asked(database, scope, BODY, id=str(page_id), v=version)
    return found["node"]["revision"]["bodyMd"], perf_counter() - started


ENGINE = make_engine()


async def asked(database: Database, scope: Scope, text: str, **variables: Any) -> Any:

    answer = orjson.loads((await ENGINE.execute(text, variables, None, Context(database, scope))).body)
    assert "errors" not in answer, answer
    return answer["data"]


async def repeat(database: Database, scope: Scope, page_id: Any, versions: int) -> None:
    """Copies of the last version: their number is what matters."""
    copied = """
        INSERT INTO revisions (tenant_id, owner_id, id, page_id, version, title, body_md, author_kind, author_id)
        SELECT $1, $2, gen_random_uuid(), $3, n, 'T', 'short', 'user', 'mara' FROM generate_series(1002, $4) AS n"""
    async with database.connection() as connection:
        await connection.raw.execute(copied, scope.tenant_id, scope.owner_id, page_id, versions)
        await connection.raw.execute("ANALYZE revisions")


async def walk(database: Database, scope: Scope, page_id: Any) -> list[float]:
    """The time of the first, a middle and the last page of a history."""
    times, after = [], None
    while True:
        started = perf_counter()
        found = await asked(database, scope, HISTORY, id=str(page_id), after=after)
        revisions = found["node"]["revisions"]
        if not revisions["nodes"]:
            break
        times.append(perf_counter() - started)
        after = revisions["pageInfo"]["endCursor"]
    return [median(times[1:4]), times[len(times) // 2], times[-1]]


async def hub(database: Database, scope: Scope) -> list[tuple[str, str]]:
    hub_id = (await create_page(database, scope, PageDraft("topic", "Hub of all"))).page_id
    text = " ".join(WORDS * 40)
    for n in range(REWRITTEN_MAX):
        body = f"{text}\n\n## See\n\n[[Hub of all]]"
        await create_page(database, scope, PageDraft("topic", f"Page {n} {new_id()}", body=body))
    started = perf_counter()
    done = await rename_page(database, scope, hub_id, title="Hub of many")
    seconds = perf_counter() - started
    assert len(done.rewritten) == REWRITTEN_MAX
    return [(f"a rename that rewrites {REWRITTEN_MAX} texts", f"{seconds:.1f} s")]


if __name__ == "__main__":
    typer.run(main)
