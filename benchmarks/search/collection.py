"""Reads collections: documents, queries and judgements, in a folder of gzipped files.

`docs.jsonl.gz`     {"id", "title", "text"} a line; wikis also {"slug", "summary", "aliases": [text], "links": [id]}
`queries.jsonl.gz`  {"id", "text"} a line; wikis also {"kind"}
`qrels.tsv.gz`      query id, document id, gain (a whole number, greater for better answers)

Beside the collections, `gibberish.txt` has one string a line that should find nothing.
"""

import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from content.languages import CODES

HERE = Path(__file__).resolve().parents[2]
DEFAULT_FOLDER = HERE.parent / "shared" / "data" / "search"
NONSENSE = "gibberish.txt"
SPACELESS = ("ja", "km", "ko", "lo", "my", "th", "zh")  # Korean has spaces, but its words take suffixes
HEADING_WORDS, HEADING_LETTERS = 12, 100
LETTERS = "abcdefghijklmnopqrstuvwxyz"
FIRST_WORD = re.compile(r"[a-z]{5,}", re.IGNORECASE)


class NoCollections(Exception):
    """There are no collections to measure with. The message says where they were searched for."""


@dataclass(frozen=True, slots=True)
class Document:
    """A page to find. `id` identifies it in the judgements."""

    id: str
    title: str
    text: str
    slug: str = ""
    summary: str = ""
    aliases: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    @property
    def body(self) -> str:
        """The text as Markdown: short lines that begin with one space become headings."""
        lines = (f"\n## {line.strip()}\n" if was_heading(line) else line for line in self.text.split("\n"))
        return "\n".join(lines).strip()


@dataclass(frozen=True, slots=True)
class Query:
    """A query. `kind` says how it was made: `title` from a title, `typo1` with one wrong letter …, else `topic`."""

    id: str
    text: str
    kind: str = "topic"


@dataclass(frozen=True)
class Collection:
    """A collection. `judged[query id][document id]` is the gain of a relevant document; others have none."""

    name: str
    documents: Sequence[Document]
    queries: Sequence[Query]
    judged: Mapping[str, Mapping[str, int]]

    @property
    def code(self) -> str:
        """The language code with which the collection's name ends: `de` of `obs_de`."""
        return self.name.rpartition("_")[2] if "_" in self.name else "en"

    @property
    def language(self) -> str:
        """The language as Postgres and Snowball name it, or English if they have no stemmer for it."""
        return CODES.get(self.code, "english")

    @property
    def is_spaceless(self) -> bool:
        return self.code in SPACELESS

    @property
    def is_wiki(self) -> bool:
        return "title" in self.kinds

    @cached_property
    def kinds(self) -> dict[str, list[Query]]:
        found: dict[str, list[Query]] = defaultdict(list)
        for query in self.queries:
            found[query.kind].append(query)
        return dict(found)

    def of(self, kinds: Sequence[str], cap: int | None) -> "Collection":
        """Return the collection with queries of these kinds (all if none is named), at most `cap` of each kind."""
        chosen = [sample(group, cap) for kind, group in self.kinds.items() if not kinds or kind in kinds]
        return replace(self, queries=[query for group in chosen for query in group])


def read(folder: Path) -> Collection:
    """Return the collection, with additional queries if it is a wiki."""
    documents = [document(json.loads(line)) for line in lines(folder / "docs.jsonl.gz")]
    rows = (json.loads(line) for line in lines(folder / "queries.jsonl.gz"))
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for line in lines(folder / "qrels.tsv.gz"):
        query_id, document_id, gain = line.rstrip("\n").split("\t")
        judged[query_id][document_id] = int(gain)
    queries = [Query(row["id"], row["text"], row.get("kind", "topic")) for row in rows if row["id"] in judged]
    return Collection(
        folder.name, documents, [*queries, *extra_queries(queries, judged, folder.parent / NONSENSE)], judged
    )


def extra_queries(queries: Sequence[Query], judged: dict[str, dict[str, int]], nonsense: Path) -> Iterator[Query]:
    """Yield the additional queries of a wiki: titles whose first letter is wrong, and strings without meaning."""
    titles = [query for query in queries if query.kind == "title"]
    for query in titles:
        if (text := misspell_first_letter(query.text)) is not None:
            judged[f"{query.id}/first"] = judged[query.id]
            yield Query(f"{query.id}/first", text, "typo_first")
    if titles and nonsense.exists():
        for number, text in enumerate(filter(None, nonsense.read_text().splitlines())):
            yield Query(f"nonsense/{number}", text, "nonsense")


def read_all(data: Path | None, names: Sequence[str]) -> Iterator[Collection]:
    """Yield the named collections, or every collection in the folder."""
    folder = find_folder(data)
    present = {path.parent.name: path.parent for path in sorted(folder.glob("*/docs.jsonl.gz"))}
    if missing := [name for name in names if name not in present]:
        raise NoCollections(f"{folder} has no {', '.join(missing)}. It has {', '.join(present)}.")
    yield from (read(present[name]) for name in names or present)


def find_folder(data: Path | None) -> Path:
    """Return the folder of collections: the given one or the default. Raises NoCollections."""
    folder = data or DEFAULT_FOLDER
    if any(folder.glob("*/docs.jsonl.gz")):
        return folder
    raise NoCollections(
        f"{folder} holds no collections (NAME/docs.jsonl.gz, …). Name their folder: --data FOLDER. "
        "They are not part of Cairn: benchmarks/RESULTS.md#search says where some are, and how to write others."
    )


def lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as text:
        yield from text


def document(row: dict[str, Any]) -> Document:
    aliases, links = tuple(row.get("aliases") or ()), tuple(row.get("links") or ())
    return Document(row["id"], row["title"], row["text"], row.get("slug", ""), row.get("summary") or "", aliases, links)


def was_heading(line: str) -> bool:
    if not line.startswith(" ") or line.startswith("  ") or not line.strip():
        return False
    return len(line.split()) <= HEADING_WORDS and len(line.strip()) <= HEADING_LETTERS


def misspell_first_letter(title: str) -> str | None:
    """Return the title with another first letter in its first long Latin word, or None if it has no such word."""
    match = FIRST_WORD.search(title)
    if match is None:
        return None
    initial = title[match.start()]
    wrong = random.Random(title).choice([letter for letter in LETTERS if letter != initial.lower()])
    return title[: match.start()] + (wrong.upper() if initial.isupper() else wrong) + title[match.start() + 1 :]


def sample(group: list[Query], cap: int | None) -> list[Query]:
    return group if cap is None or len(group) <= cap else random.Random(1).sample(group, cap)
