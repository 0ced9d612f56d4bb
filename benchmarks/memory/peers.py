"""Other rankings of the same sessions and turns: BM25 by bm25s, and vectors of a model on an embedding server.

Each ranks whole sessions, with their titles, and single turns. The two rankings are independent of each other.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import httpx

from ..search.collection import Collection
from ..search.peers import bm25s
from .conversations import Conversation
from .scores import Ranked

Answer = Callable[[str], Ranked]
System = Callable[[Conversation], Answer]
BATCH = 64  # texts of one request for embeddings
DEPTH = 50


def lexical(conversation: Conversation) -> Answer:
    """Return a BM25 search. Raises ImportError if the extra `benchmarks` is not installed."""
    sessions, turns = bm25s(conversation.sessions), bm25s(conversation.turns)
    return lambda text: Ranked(sessions(text), turns(text))


class Dense:
    """Ranks by vectors of a model on a server with OpenAI's protocol, such as Ollama. Embeds each text once."""

    def __init__(self, url: str, model: str, key: str = "") -> None:
        self.url, self.model = f"{url.rstrip('/')}/embeddings", model
        self.client = httpx.Client(timeout=600, headers={"authorization": f"Bearer {key}"} if key else {})
        self.known: dict[str, list[float]] = {}
        self.numpy: Any = import_module("numpy")

    def __call__(self, conversation: Conversation) -> Answer:
        self.embed([query.text for query in conversation.queries])
        sessions, turns = self.nearest(conversation.sessions), self.nearest(conversation.turns)
        return lambda text: Ranked(sessions(text), turns(text))

    def nearest(self, collection: Collection) -> Callable[[str], list[str]]:
        """Return the search by cosine similarity."""
        ids = [document.id for document in collection.documents]
        texts = [f"{document.title}\n{document.text}".strip() for document in collection.documents]
        self.embed(texts)
        matrix = self.unit([self.known[text] for text in texts])

        def search(text: str) -> list[str]:
            likeness = matrix @ self.unit([self.known[text]])[0]
            return [ids[place] for place in self.numpy.argsort(-likeness, kind="stable")[:DEPTH]]

        return search

    def embed(self, texts: Sequence[str]) -> None:
        lacking = list(dict.fromkeys(text for text in texts if text not in self.known))
        for start in range(0, len(lacking), BATCH):
            part = lacking[start : start + BATCH]
            answer = self.client.post(self.url, json={"model": self.model, "input": part})
            answer.raise_for_status()
            found = sorted(answer.json()["data"], key=lambda item: item["index"])
            self.known.update(zip(part, (item["embedding"] for item in found), strict=True))

    def unit(self, vectors: Sequence[Sequence[float]]) -> Any:
        rows = self.numpy.asarray(vectors, dtype="float32")
        return rows / (self.numpy.linalg.norm(rows, axis=1, keepdims=True) + 1e-12)
