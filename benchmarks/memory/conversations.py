"""Reads conversations with questions whose evidence people judged, from folders of gzipped files.

`sources.jsonl.gz`     {"ref", "content", "captured_at"} a line: a session, with one turn after the other
`docs.jsonl.gz`        {"id", "title", "text"} a line: the same sessions as documents, for searches that know no sources
`turns.jsonl.gz`       {"id", "session", "text"} a line, in order
`queries.jsonl.gz`     {"id", "text", "kind"} a line
`qrels.tsv.gz`         query id, session, gain
`qrels_turns.tsv.gz`   query id, turn, gain
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..search.collection import Collection, Document, NoCollections, Query, lines

HERE = Path(__file__).resolve().parents[2]
DEFAULT_FOLDER = HERE.parent / "shared" / "data" / "memory"
Judged = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Session:
    """One source: what was said on one day, and the turn of each of its lines, counted from 1."""

    ref: str
    content: str
    captured_at: datetime
    turns: tuple[str, ...]

    def turn(self, line: int) -> str:
        return self.turns[line - 1]


@dataclass(frozen=True)
class Conversation:
    """A conversation. `sources` are its sessions, which `sessions` has as documents; `turns` has its turns as
    documents.

    Both collections contain the same questions, with judgements of sessions or of turns.
    """

    name: str
    sources: Sequence[Session]
    sessions: Collection
    turns: Collection

    @property
    def queries(self) -> Sequence[Query]:
        return self.sessions.queries


def read(folder: Path) -> Conversation:
    """Return a conversation. Raises NoCollections if the text of a session differs from that of its turns."""
    documents = [Document(row["id"], row["title"], row["text"]) for row in rows(folder / "docs.jsonl.gz")]
    turns = rows(folder / "turns.jsonl.gz")
    turns_by_session: dict[str, list[dict[str, str]]] = {}
    for turn in turns:
        turns_by_session.setdefault(turn["session"], []).append(turn)
    sources = [session(row, turns_by_session.get(row["ref"], [])) for row in rows(folder / "sources.jsonl.gz")]
    of_sessions, of_turns = judged(folder / "qrels.tsv.gz"), judged(folder / "qrels_turns.tsv.gz")
    queries = [
        Query(row["id"], row["text"], row["kind"])
        for row in rows(folder / "queries.jsonl.gz")
        if row["id"] in of_sessions and row["id"] in of_turns
    ]
    turn_documents = [Document(turn["id"], "", turn["text"]) for turn in turns]
    return Conversation(
        folder.name,
        sources,
        Collection(folder.name, documents, queries, of_sessions),
        Collection(folder.name, turn_documents, queries, of_turns),
    )


def session(row: dict[str, str], turns: Sequence[dict[str, str]]) -> Session:
    """Return a session with the turn of each of its lines, as a turn may have several lines."""
    lines_with_turns = [(line, turn["id"]) for turn in turns for line in turn["text"].split("\n")]
    if [line for line, _ in lines_with_turns] != row["content"].split("\n"):
        raise NoCollections(f"The session {row['ref']} is not made of the turns in turns.jsonl.gz.")
    moment = datetime.fromisoformat(row["captured_at"])
    return Session(row["ref"], row["content"], moment, tuple(turn for _, turn in lines_with_turns))


def combined(conversations: Sequence[Conversation], name: str = "all") -> Conversation:
    """Return several conversations as one, for measurements in which one wiki contains all of them."""
    return Conversation(
        name,
        [source for conversation in conversations for source in conversation.sources],
        join_collections(name, [conversation.sessions for conversation in conversations]),
        join_collections(name, [conversation.turns for conversation in conversations]),
    )


def join_collections(name: str, collections: Sequence[Collection]) -> Collection:
    return Collection(
        name,
        [document for conversation in collections for document in conversation.documents],
        [query for conversation in collections for query in conversation.queries],
        {query: gains for conversation in collections for query, gains in conversation.judged.items()},
    )


def read_all(data: Path | None, names: Sequence[str]) -> list[Conversation]:
    """Return the named conversations, or every conversation in the folder. Raises NoCollections."""
    folder = data or DEFAULT_FOLDER
    present = {path.parent.name: path.parent for path in sorted(folder.glob("*/turns.jsonl.gz"))}
    if not present:
        raise NoCollections(
            f"{folder} holds no conversations (NAME/turns.jsonl.gz, …). Name their folder: --data FOLDER. "
            "They are not part of Cairn: benchmarks/memory/conversations.py describes their files."
        )
    if missing := [name for name in names if name not in present]:
        raise NoCollections(f"{folder} has no {', '.join(missing)}. It has {', '.join(present)}.")
    return [read(present[name]) for name in names or present]


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in lines(path)]


def judged(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for query, document, gain in split(path):
        found.setdefault(query, {})[document] = int(gain)
    return found


def split(path: Path) -> Iterator[list[str]]:
    return (line.rstrip("\n").split("\t") for line in lines(path))
