"""Provides the texts to compile: the collections that search is measured on, and vaults of markdown notes."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..search.collection import NoCollections, find_folder, read_all

VAULTS = "vaults"
NAMES = (
    "cacm",
    "cisi",
    "cppdocs",
    "cran",
    "hugo",
    *(f"obs_{code}" for code in ("de", "en", "fr", "ko", "th", "vi", "zh")),
)
DOCUMENTS_PER_COLLECTION = 24  # documents per collection
MAX_DOCUMENT_LENGTH = 6_000  # characters of a document
POST_LENGTH = 1_500  # characters of a post
SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
MARKUP = frozenset("[]{}<>|`")
QUOTE_LENGTHS = range(30, 220)  # characters of a sentence that is worth a quote


@dataclass(frozen=True, slots=True)
class Writing:
    """A text that was not generated. `name` says where it comes from, and is the same in each run."""

    name: str
    title: str
    text: str
    is_markdown: bool = False

    @property
    def quotes(self) -> list[str]:
        sentences = (" ".join(sentence.split()) for sentence in SENTENCE.split(self.text))
        return [
            sentence
            for sentence in sentences
            if len(sentence) in QUOTE_LENGTHS and sentence[-1] in ".!?。" and MARKUP.isdisjoint(sentence)
        ]


def writings(data: Path | None) -> tuple[Writing, ...]:
    """Return a sample of each collection and every note of the vaults beside them, the same texts in each run."""
    folder = find_folder(data)
    return (*sample_collections(folder), *read_vaults(folder.parent / VAULTS))


def sample_collections(folder: Path) -> Iterator[Writing]:
    names = [name for name in NAMES if (folder / name).exists()]
    for collection in read_all(folder, names):
        titled = [
            document
            for document in collection.documents
            if document.title.strip() and len(document.text) >= QUOTE_LENGTHS.start
        ]
        for document in random.Random(collection.name).sample(titled, min(DOCUMENTS_PER_COLLECTION, len(titled))):
            title = " ".join(document.title.split())[:200]
            yield Writing(f"{collection.name}/{document.id}", title, document.text[:MAX_DOCUMENT_LENGTH])


def posts(data: Path | None, name: str, count: int) -> list[Writing]:
    """Return `count` posts of equal length, cut one after the other from the documents of a collection. Posts overlap
    where the collection has too little text."""
    (collection,) = read_all(find_folder(data), [name])
    text = "\n\n".join(document.text for document in collection.documents)
    step = max(1, min(POST_LENGTH, (len(text) - POST_LENGTH) // count))
    return [Writing(f"{name}/{n}", f"Post {n}", text[n * step : n * step + POST_LENGTH]) for n in range(count)]


def read_vaults(folder: Path) -> Iterator[Writing]:
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if text.strip():
            yield Writing(path.relative_to(folder).as_posix(), path.stem, text, is_markdown=True)


def first_quotes(texts: Sequence[Writing]) -> list[tuple[str, str]]:
    """Return (title, first quotable sentence) of every text that has such a sentence."""
    return [(text.title, quotes[0]) for text in texts if (quotes := text.quotes)]


__all__ = ["NoCollections", "Writing", "first_quotes", "posts", "writings"]
