"""Writes a folder of notes as people keep them."""

import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import orjson

from ..wikis import SYLLABLES, TAGS, TYPES

WORDS = 40_000  # different words, with the frequencies of a natural language
PASSAGE, PASSAGES = 55, 3  # words of a passage, passages of a note, each with a link
CHILDREN = 10  # one note in CHILDREN names its parent page
WRITTEN = {"author": {"kind": "user", "id": "mara"}, "created_at": "2026-02-15T10:00:00Z"}


def edited_body(body: str, version: int) -> str:
    return f"{body}\n\nEdited {version} times.\n"


class Author:
    """Writes notes with a header, a lead, two headings and links by name. The same seed gives the same notes."""

    def __init__(self, pages: int) -> None:
        self.pages, self.rng = pages, random.Random(pages)
        self.words = sorted({"".join(self.rng.choices(SYLLABLES, k=n % 3 + 2)) for n in range(2 * WORDS)})[::2]
        self.rng.shuffle(self.words)
        self.weights = list(accumulate(1 / (rank + 2) for rank in range(len(self.words))))
        self.titles = [f"{self.random_words(2)} {number}".title() for number in range(pages)]

    def write(self, folder: Path, numbers: range, edit: str = "") -> None:
        for number in numbers:
            path = folder / TYPES[number % len(TYPES)] / f"{self.titles[number]}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join([*self.header(number), "", edit + self.body(number)]) + "\n")

    def write_versions(self, file: Path, count: int) -> None:
        """Write the JSON lines of one page and of all its former versions, each with one more edit."""
        page = {"slug": "edited", "title": "Edited", "type": "topic", "tags": []}
        address, body = "/wiki/topic/edited", self.body(0)
        with file.open("wb") as lines:
            lines.write(orjson.dumps(page | {"body": edited_body(body, count)}) + b"\n")
            for version in range(1, count + 1):
                fields = {"page": address, "version": version, "body": edited_body(body, version)} | WRITTEN
                lines.write(orjson.dumps({"revision": page | fields}) + b"\n")

    def header(self, number: int) -> Iterator[str]:
        rng = random.Random(number)
        yield "---"
        yield f"title: {self.titles[number]}"
        yield f"type: {TYPES[number % len(TYPES)]}"
        yield f"aliases: [nick {number}, {self.words[number % len(self.words)]} {number}]"
        yield "tags:"
        yield from (f"  - {tag}" for tag in rng.sample(TAGS, 2))
        if number % CHILDREN == 1:
            yield f'parent: "[[{self.titles[number // CHILDREN]}]]"'
        yield "---"

    def body(self, number: int) -> str:
        self.rng.seed(number)
        lead, *others = (f"{self.random_words(PASSAGE).capitalize()}. See {self.link()}." for _ in range(PASSAGES))
        return "\n\n".join([lead, *(f"## {self.random_words(2).capitalize()}\n\n{other}" for other in others)])

    def link(self) -> str:
        return f"[[{self.titles[self.rng.randrange(self.pages)]}]]"

    def random_words(self, count: int) -> str:
        return " ".join(self.rng.choices(self.words, cum_weights=self.weights, k=count))
