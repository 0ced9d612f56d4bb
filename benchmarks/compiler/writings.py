"""Provides the texts to compile: the collections that search is measured on, and vaults of markdown notes."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..search.collection import NoCollections, found, read_all

VAULTS = "vaults"
NAMES = (
    "cacm",
    "cisi",
    "cppdocs",
    "cran",
    "hugo",
    *(f"obs_{code}" for code in ("de", "en", "fr", "ko", "th", "vi", "zh")),
)
EACH = 24  # documents per collection
LONGEST = 6_000  # characters of a document
POST = 1_500  # characters of a post
SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
MARKUP = frozenset("[]{}<>|`")
QUOTED = range(30, 220)  # characters of a sentence that is worth a quote


@dataclass(frozen=True, slots=True)
class Writing:
    """A text that was not generated. `name` says where it comes from, and is the same in each run."""

    name: str
    title: str
    text: str
    is_markdown: bool = False

    @property
    def quotes(self) -> list[str]:
        sentences = (" ".join(one.split()) for one in SENTENCE.split(self.text))
        return [one for one in sentences if len(one) in QUOTED and one[-1] in ".!?。" and MARKUP.isdisjoint(one)]


def writings(data: Path | None) -> tuple[Writing, ...]:
    """Return a sample of each collection and every note of the vaults beside them, the same texts in each run."""
    folder = found(data)
    return (*collected(folder), *noted(folder.parent / VAULTS))


def collected(folder: Path) -> Iterator[Writing]:
    names = [name for name in NAMES if (folder / name).exists()]
    for collection in read_all(folder, names):
        titled = [one for one in collection.documents if one.title.strip() and len(one.text) >= QUOTED.start]
        for one in random.Random(collection.name).sample(titled, min(EACH, len(titled))):
            title = " ".join(one.title.split())[:200]
            yield Writing(f"{collection.name}/{one.id}", title, one.text[:LONGEST])


def posts(data: Path | None, name: str, count: int) -> list[Writing]:
    """Return `count` posts of equal length, cut one after the other from the documents of a collection. Posts overlap
    where the collection has too little text."""
    (collection,) = read_all(found(data), [name])
    text = "\n\n".join(one.text for one in collection.documents)
    step = max(1, min(POST, (len(text) - POST) // count))
    return [Writing(f"{name}/{n}", f"Post {n}", text[n * step : n * step + POST]) for n in range(count)]


def noted(folder: Path) -> Iterator[Writing]:
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if text.strip():
            yield Writing(path.relative_to(folder).as_posix(), path.stem, text, is_markdown=True)


def quotable(texts: Sequence[Writing]) -> list[tuple[str, str]]:
    """Return (title, first quotable sentence) of every text that has such a sentence."""
    return [(one.title, quotes[0]) for one in texts if (quotes := one.quotes)]


__all__ = ["NoCollections", "Writing", "posts", "quotable", "writings"]
