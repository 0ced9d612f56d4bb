"""A server on this machine with `/v1/embeddings`, and a model that knows which words are synonyms.

A text's vector is the sum of a direction for each of its words, and words of one group share theirs: so texts with
other words can be near each other. Each request is answered with the next of the model's behaviours; the last one is
repeated.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

KEY = "key-of-mara"
GROUPS = (
    ("money", "refund", "refunds", "reimbursement", "reimbursed", "repay"),
    ("car", "automobile", "vehicle"),
    ("doctor", "physician", "surgeon"),
    ("sad", "unhappy", "miserable"),
)
SYNONYM_GROUP = {word: group[0] for group in GROUPS for word in group}
STOP_WORDS = frozenset(["are", "back", "can", "do", "does", "get", "how", "i", "is", "it", "my", "the", "to", "when"])
Reply = tuple[int, dict[str, str], bytes]


def vector(text: str, dimensions: int) -> list[float]:
    found = [1e-3] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        if word in STOP_WORDS:
            continue
        digest = sha256(SYNONYM_GROUP.get(word, word).encode()).digest()
        for place in range(8):
            found[digest[place] % dimensions] += 1 if digest[place + 16] % 2 else -1
    length = math.sqrt(sum(number * number for number in found))
    return [number / length for number in found]


@dataclass
class EmbeddingModel:
    """A model: the behaviours of its next responses, and the requests that it got."""

    dimensions: int = 64
    behaviours: list[str] = field(default_factory=lambda: ["well"])
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    is_stopped: Event = field(default_factory=Event)

    def reply(self, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        behaviour = self.behaviours[min(len(self.requests), len(self.behaviours) - 1)]
        self.requests.append(body)
        self.headers.append(headers)
        return BEHAVIOURS[behaviour](self, body)

    def set_behaviours(self, *behaviours: str) -> None:
        self.behaviours, self.requests = list(behaviours), []

    @property
    def texts(self) -> list[str]:
        return [text for body in self.requests for text in body["input"]]


def response(document: object, status: int = 200, **headers: str) -> Reply:
    return status, headers, document if isinstance(document, bytes) else json.dumps(document).encode()


def reply_normally(model: EmbeddingModel, body: dict[str, Any]) -> Reply:
    """Return the vectors in reverse order: each has its index."""
    items = [
        {"object": "embedding", "index": place, "embedding": vector(text, model.dimensions)}
        for place, text in enumerate(body["input"])
    ]
    return response({"object": "list", "data": items[::-1], "model": body["model"]})


def reply_late(model: EmbeddingModel, body: dict[str, Any]) -> Reply:
    """Return a response after the client has stopped waiting."""
    model.is_stopped.wait()
    return reply_normally(model, body)


def reply_to_short_requests(model: EmbeddingModel, body: dict[str, Any]) -> Reply:
    """Refuse a request with more than a thousand characters, as servers refuse more tokens than their model takes."""
    return response({"error": "x"}, 413) if sum(map(len, body["input"])) > 1_000 else reply_normally(model, body)


def reply_with_vectors(vectors: object) -> Callable[[EmbeddingModel, dict[str, Any]], Reply]:
    return lambda model, body: response({"data": [{"index": 0, "embedding": vectors}]})


BEHAVIOURS: dict[str, Callable[[EmbeddingModel, dict[str, Any]], Reply]] = {
    "well": reply_normally,
    "slowly": reply_late,
    "short requests": reply_to_short_requests,
    "invalid": lambda model, body: response({"error": "x"}, 422),
    "busy": lambda model, body: response({"error": "x"}, 429, **{"retry-after": "0.01"}),
    "broken": lambda model, body: response({"error": "x"}, 500),
    "refused": lambda model, body: response({"error": "x"}, 401),
    "moved": lambda model, body: response({}, 302, location="http://127.0.0.1:9/"),
    "garbage": lambda model, body: response(b"<html>"),
    "nothing": lambda model, body: response({"data": []}),
    "list": lambda model, body: response([1, 2]),
    "wrong dimension": reply_with_vectors([0.5, 0.5]),
    "texts": reply_with_vectors(["a"] * 64),
    "not a number": lambda model, body: response(
        b'{"data": [{"index": 0, "embedding": [' + b",".join([b"NaN"] * 64) + b"]}]}"
    ),
    "no direction": reply_with_vectors([0.0] * 64),
    "huge": reply_with_vectors([1e300] * 64),
}


@contextmanager
def serve_embeddings(model: EmbeddingModel) -> Iterator[EmbeddingModel]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, headers, content = model.reply({name.lower(): value for name, value in self.headers.items()}, body)
            with suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(status if self.path == "/v1/embeddings" else 404)
                for name, value in {**headers, "content-length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield model
    finally:
        model.is_stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
