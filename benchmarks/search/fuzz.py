"""Asks strange and very long questions: none of them may cause an error.

Each question is sent as GraphQL, requesting hits and every field of results, in a wiki whose names, tags and words are
mixed into the noise. The same seed gives the same questions.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import orjson
import typer
import uvloop
from rich.console import Console
from rich.progress import track

from db.database import Database
from resolvers.context import Context
from schema.root import make_engine

from ..wikis import VOCABULARY, wiki, write_wikis
from .cairn import scope_of
from .quality import migrated

stderr = Console(stderr=True)
WIKI = wiki(1, 1, 400, hub=40)
ANY_COST = 10**9
LONGEST = 10_000  # bytes of a question
FEW, SHOWN = 10, 400  # failures that are printed, and characters of their questions
DOCUMENTS = (
    "query ($q: String!) { mobileWikiSearch(query: $q) { score page { title } } }",
    """query ($q: String!) { wikiSearchResults(query: $q, explain: true) {
        totalCount didYouMean facets { types { value } tags { value } } pageInfo { endCursor }
        edges { score section { heading } snippet { text html highlights { start length } }
                explanation { terms { word } } node { title } } } }""",
    "query ($q: String!) { wikiSuggest(prefix: $q) { name } }",
)
OPERATORS = (
    '"', "-", "--", ":", "::", "->", "(", ")", "&", "|", "!", "*", "<->", "\\", "'", "%", "_", "$1", "\t", "\n",
    "\u2028", "type:", "-type:", "type:topic", "tag:", "tag:tag-1", '-tag:"', "status:any", "updated:",
    "updated:>2026-13-99", "updated:<=0001", "updated:9999-12-31", "in:title", "owner:", "owner:nobody", "C++", "C#",
    "std::vector",
)  # fmt: skip
SCRIPTS = (
    (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0xDFF), (0xE00, 0xEFF),
    (0x1000, 0x109F), (0x1780, 0x17FF), (0x200B, 0x206F), (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3),
    (0xFE00, 0xFE0F), (0xFF01, 0xFF5E), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0xE0000, 0xE007F), (0x1, 0xD7FF),
    (0xE000, 0x10FFFF),
)  # fmt: skip


@dataclass(slots=True)
class FuzzResult:
    """The failures, and the longest time of a request in milliseconds."""

    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0


def fuzz(
    runs: Annotated[int, typer.Option(min=1, help="Questions to ask.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same questions.")] = 1,
) -> None:
    """Ask strange questions of up to 10 kB. Fails if any of them causes an error."""
    rng = random.Random(seed)
    texts = [strange_question(rng) for _ in range(runs)]
    with migrated() as dsn:
        result = uvloop.run(ask_all(dsn, texts))
    longest = max(len(text.encode()) for text in texts)
    typer.echo(f"{runs:,} questions of up to {longest:,} bytes, seed {seed}: {len(result.failures)} errors; "
               f"the slowest took {result.slowest:,.0f} ms.")  # fmt: skip
    for failure in result.failures[:FEW]:
        typer.echo(failure)
    if result.failures:
        raise typer.Exit(1)


async def ask_all(dsn: str, texts: Sequence[str]) -> FuzzResult:
    await write_wikis(dsn, [WIKI])
    database, engine, result = Database(dsn, size=2), make_engine(), FuzzResult()
    await database.open()
    try:
        for text in track(texts, "Asking", console=stderr, disable=not stderr.is_terminal):
            for document in DOCUMENTS:
                started = time.perf_counter()
                context = Context(database, scope_of(WIKI), ANY_COST)
                answer = orjson.loads((await engine.execute(document, {"q": text}, None, context)).body)
                result.slowest = max(result.slowest, (time.perf_counter() - started) * 1000)
                if "errors" in answer:
                    result.failures.append(f"{answer['errors'][0]['message']} {text[:SHOWN]!r}")
    finally:
        await database.close()
    return result


def strange_question(rng: random.Random) -> str:
    """Generate a question of up to LONGEST bytes. Short questions are the most frequent: their pieces stay whole."""
    size, pieces = int(LONGEST ** rng.random()), list[str]()
    while size > 0:
        pieces.append(rng.choice(PIECES)(rng))
        size -= len(pieces[-1].encode())
    return cut(rng.choice(("", " ")).join(pieces), LONGEST)


def cut(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore")


def operator(rng: random.Random) -> str:
    return rng.choice(OPERATORS)


def word(rng: random.Random) -> str:
    """Return a word of the wiki, its beginning, or the word with a wrong letter or in capitals."""
    found = rng.choice(VOCABULARY)
    at = rng.randrange(len(found))
    return rng.choice((found, found[: at + 1], found[:at] + rng.choice("aeiouxyz") + found[at + 1 :], found.upper()))


def script(rng: random.Random) -> str:
    """Return a run of characters of one script."""
    first, last = rng.choice(SCRIPTS)
    return "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 12)))


def endless(rng: random.Random) -> str:
    """Return one piece repeated many times without a space."""
    return rng.choice((operator, word, script))(rng) * rng.randint(2, 400)


PIECES = (operator, word, word, script, script, endless)
