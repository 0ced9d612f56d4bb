"""Notes for the tests of the planner, and a wiki in memory that plans are applied to."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from benchmarks.planner.memory import MemoryWiki, Page
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from compiler.planner import SourceText

NAMESPACE = UUID("1c3f9f5e-5f0e-4d5c-8f0c-0b8a3f2d9a11")
START = datetime(2026, 4, 1, 9, tzinfo=UTC)


def note(
    number: int, text: str, *, day: int | None = None, title: str | None = None, ref: str | None = None, **metadata: Any
) -> SourceText:
    """Return a note, `n<number>` by default, taken `day` (or else `number`) days after the first of April."""
    at = START + timedelta(days=number if day is None else day)
    return SourceText(uuid5(NAMESPACE, str(number)), "note", ref or f"n{number}", text, at, title, metadata)


def file_notes(texts: Mapping[str, str]) -> list[SourceText]:
    """Return one note for each path and text."""
    return [note(number, text, ref=path) for number, (path, text) in enumerate(texts.items())]


def notes(*texts: str, **metadata: Any) -> list[SourceText]:
    """Return one note for each text, a day apart."""
    return [note(number, text, **metadata) for number, text in enumerate(texts)]


def compiled(sources: Sequence[SourceText], batch: int = 50) -> MemoryWiki:
    """Return the wiki that the sources are compiled to in batches of a size."""
    wiki = MemoryWiki(ExtractivePlanner(), ExtractiveWriter())
    asyncio.run(wiki.compile(sources, batch))
    return wiki


def titles(wiki: MemoryWiki, type: str | None = None) -> list[str]:
    return [page.card.title for page in wiki.all if type in (None, page.card.type)]


def page(wiki: MemoryWiki, title: str) -> Page:
    found = [page for page in wiki.all if page.card.title == title]
    assert found, f"{title!r} is none of {titles(wiki)}"
    return found[0]


def body(wiki: MemoryWiki, title: str, section: str) -> str:
    return page(wiki, title).sections[section].body


def leading_names(wiki: MemoryWiki) -> set[str]:
    """Return all names that lead to a page."""
    return {alias for page in wiki.all for alias in page.card.aliases}


def refs(wiki: MemoryWiki, ids: Iterable[UUID]) -> list[str]:
    return [wiki.known[id].ref for id in ids]


TRIP = [
    note(0, "Landed in Lisbon at dawn. Lisbon is the capital of Portugal.", city="Lisbon", tags=["travel"]),
    note(1, "Taberna dos Mercadores for lunch. Chef João sent out clams. "
            "Taberna dos Mercadores is a tiny tavern in Alfama.",
         place="Taberna dos Mercadores", city="Lisbon", tags=["food"]),
    note(2, "Alfama was quiet. We met Chef João again and he recommends the octopus.", city="Lisbon"),
    note(3, "Back home. Brisket at Franklin Barbecue with Priya Raman.", place="Franklin Barbecue",
         city="Austin, Texas", tags=["bbq", "food"]),
    note(4, "Priya says the ribs are better. Franklin was full.", place="Franklin Barbecue", city="Austin, Texas"),
    note(5, "We decided to go back in October because the flights are cheap. Consequently the roof has to wait.",
         city="Austin, Texas"),
    note(6, "Wrote to Chef Joao about the recipe. Talked with Priya about Alfama.",
         city="Austin, Texas", tags=["food"]),
    note(7, "ATX traffic again. Priya brought tea and the fado records from Alfama.", city="Austin, Texas"),
]  # fmt: skip
