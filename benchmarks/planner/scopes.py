"""Provides the texts that the planner is measured on: labelled journals, notes, and collections of documentation."""

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid5

from compiler.extraction.texts.metadata import tags, texts
from compiler.extraction.texts.text import fold_text, padded
from compiler.planner import SourceText
from content.names import normalise
from content.notes.notes import from_markdown
from content.values import BadNote

JOURNALS = Path(__file__).parent / "journals"
NAMESPACE = UUID("0b8b43b3-5b9e-4c0e-9a0b-6d8f5e1f9a10")
Row = tuple[str, str, str, dict[str, list[str]]]  # ref, title, text, metadata
SEEN_MIN = 3
DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Expected:
    """A page that should exist, by any of its names. `type` is None where any type would be right.

    `is_given` is true if the metadata name it explicitly.
    """

    names: frozenset[str]
    type: str | None = None
    is_given: bool = False


@dataclass(frozen=True, slots=True)
class ScopeOfNotes:
    """Sources, the pages that should be made from them, and the number of decisions in them, None if not counted."""

    name: str
    sources: tuple[SourceText, ...]
    expected: tuple[Expected, ...]
    decisions: int | None = None


def journal(path: Path) -> ScopeOfNotes:
    """Return a journal with the pages of its labels and of its metadata: places, cities of two notes, tags of three."""
    first, *rows = path.read_text(encoding="utf-8").splitlines()
    gold = json.loads(first)["gold"]
    sources = tuple(_entry(json.loads(row)) for row in rows)
    given = {names for page in _pages_of_metadata(sources) for names in page.names}
    pages = [Expected(frozenset(map(normalise, page["names"])), page["type"]) for page in gold["pages"]]
    pages = [Expected(page.names, page.type, not given.isdisjoint(page.names)) for page in pages]
    named = {name for page in pages for name in page.names}
    pages += [page for page in _pages_of_metadata(sources) if named.isdisjoint(page.names)]
    return ScopeOfNotes(path.stem, sources, tuple(pages), gold["decisions"])


def _entry(row: dict[str, object]) -> SourceText:
    at = datetime.fromisoformat(f"{row['at']}T09:00:00+00:00")
    metadata = row["metadata"]
    assert isinstance(metadata, dict)
    return SourceText(uuid5(NAMESPACE, str(row["ref"])), "note", str(row["ref"]), str(row["text"]), at, None, metadata)


def _pages_of_metadata(sources: Iterable[SourceText]) -> list[Expected]:
    found: list[Expected] = []
    for type, minimum, values in (
        ("entity", 1, [set(texts(source.metadata, "place")) for source in sources]),
        ("topic", 2, [set(texts(source.metadata, "city")) for source in sources]),
        ("topic", SEEN_MIN, [set(tags(source)) for source in sources]),
    ):
        named = (name for name in sorted(set().union(*values)) if sum(name in source for source in values) >= minimum)
        found += [Expected(frozenset({normalise(name)}), type, is_given=True) for name in named]
    return found


def vault(folder: Path, *, titled: bool) -> ScopeOfNotes:
    """Return the Markdown files of a folder. The expected pages are titles that at least three other notes mention."""
    rows: list[Row] = []
    for path in sorted(folder.rglob("*.md")):
        try:
            note = from_markdown(path.stem, path.read_text(encoding="utf-8"))
        except (BadNote, UnicodeDecodeError):
            continue
        rows.append((str(path.relative_to(folder)), note.title, note.body, {"tags": list(note.tags)}))
    return _documents(f"{folder.name}{' +titles' if titled else ''}", rows, titled=titled)


def collection(folder: Path, *, titled: bool, limit: int = 200) -> ScopeOfNotes:
    """Return the first documents of a search collection, from `docs.jsonl.gz`."""
    rows: list[Row] = []
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            if len(rows) < limit:
                row = json.loads(line)
                rows.append((f"{folder.name}/{row['id']}", row["title"], row["text"], {}))
    return _documents(f"{folder.name}{' +titles' if titled else ''}", rows, titled=titled)


def _documents(name: str, rows: list[Row], *, titled: bool) -> ScopeOfNotes:
    sources = tuple(
        SourceText(uuid5(NAMESPACE, ref), "note", ref, text, DAY, title if titled else None, metadata)
        for ref, title, text, metadata in rows
    )
    texts = [fold_text(text) for _, _, text, _ in rows]
    titles = {normalise(title) for _, title, _, _ in rows if len(normalise(title)) > 1}
    seen = {
        title: sum(
            padded(title) in text for (_, own, _, _), text in zip(rows, texts, strict=True) if normalise(own) != title
        )
        for title in titles
    }
    return ScopeOfNotes(
        name, sources, tuple(Expected(frozenset({title})) for title in sorted(titles) if seen[title] >= SEEN_MIN)
    )
