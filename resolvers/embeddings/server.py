"""The client of an embedding server with the API `POST /v1/embeddings` of OpenAI, Ollama, TEI and vLLM."""

import asyncio
import math
import ssl
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson

from lib.lru import LRU

from ..errors import BadInput, Unavailable
from .embedder import Vector

BATCH_MAX = 256
TEXT_LONGEST = 4_000  # characters of a text that is embedded
TEXT_SHORTEST = 200  # characters of a text below which it is not refused for its length
MAYBE_TOO_LONG = frozenset({400, 413, 422})  # statuses by which servers refuse more tokens than their model takes
ANSWER_LARGEST = 64_000_000  # bytes
TRIES = 3
PAUSE = 0.2  # seconds before the second try; twice as long before the third
WAIT_LONGEST = 5.0  # seconds that a Retry-After header may delay the next try
QUESTIONS_KEPT = 200
FAILURES = (httpx.HTTPError, ssl.SSLError)
"""The errors of a request. httpx does not turn a TLS record that cannot be decrypted into an error of its own."""


class Counts:
    """The numbers of queries that needed a vector since the process started, by outcome."""

    def __init__(self) -> None:
        self.embedded = self.cached = self.late = self.failed = 0


class EmbeddingServer:
    """An `Embedder` that sends texts to a server over HTTP in batches, and retries failures that may be temporary."""

    def __init__(
        self,
        url: str,
        model: str,
        dimensions: int,
        *,
        key: str | None = None,
        timeout: float = 30.0,
        wait: float = 1.0,
        batch: int = 32,
    ) -> None:
        """`timeout` bounds a request of the job, and `wait` that of a query, both in seconds."""
        self.url, self.model, self.dimensions = endpoint(url), model, dimensions
        self.timeout, self.wait, self.batch = timeout, wait, max(1, min(batch, BATCH_MAX))
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.tls = httpx.create_ssl_context(trust_env=False)  # reading the certificates takes 20 ms
        self.questions: LRU[Vector] = LRU(QUESTIONS_KEPT)
        self.counts = Counts()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        found: list[Vector] = []
        for start in range(0, len(texts), self.batch):
            found += await self.embed_batch([text[:TEXT_LONGEST] for text in texts[start : start + self.batch]])
        return found

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of these texts. A batch that is too long for the model is sent in halves.

        Of a single text that is too long only the first half counts, or a quarter, and so on.
        """
        try:
            return await self.request_with_retries(texts)
        except TooLong:
            half = len(texts) // 2
            if half:
                return [*await self.embed_batch(texts[:half]), *await self.embed_batch(texts[half:])]
            if len(texts[0]) < 2 * TEXT_SHORTEST:
                raise
            return await self.embed_batch([texts[0][: len(texts[0]) // 2]])

    async def of_question(self, text: str) -> Vector | None:
        text = text[:TEXT_LONGEST]
        if (known := self.questions.get(text)) is not None:
            self.counts.cached += 1
            return known
        try:
            async with asyncio.timeout(self.wait):
                (vector,) = await self.request_vectors([text])
        except TimeoutError:
            self.counts.late += 1
            return None
        except (Unavailable, *FAILURES):
            self.counts.failed += 1
            return None
        self.counts.embedded += 1
        self.questions.put(text, vector)
        return vector

    async def request_with_retries(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of these texts, with up to three tries and the pauses that a busy server asks for."""
        for attempt in range(TRIES):
            try:
                async with asyncio.timeout(self.timeout):
                    return await self.request_vectors(texts)
            except Busy as error:
                if attempt == TRIES - 1:
                    raise Unavailable(error.message) from None
                await asyncio.sleep(min(error.after or PAUSE * 2**attempt, WAIT_LONGEST))
            except (TimeoutError, *FAILURES) as error:
                if attempt == TRIES - 1:
                    kind = "did not answer in time" if isinstance(error, TimeoutError) else "cannot be reached"
                    raise Unavailable(f"The embedding server {kind}. Check CAIRN_EMBEDDING_URL.") from None
                await asyncio.sleep(PAUSE * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    async def request_vectors(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of these texts by one request. Raises Busy, Unavailable, or one of FAILURES."""
        body = {"model": self.model, "input": list(texts)}
        async with (
            httpx.AsyncClient(timeout=self.timeout, follow_redirects=False, trust_env=False, verify=self.tls) as client,
            client.stream("POST", self.url, json=body, headers=self.headers) as answer,
        ):
            if answer.status_code == 429 or answer.status_code >= 500:
                raise Busy(answer.status_code, seconds(answer.headers.get("retry-after")))
            if answer.status_code != 200:
                refused = TooLong if answer.status_code in MAYBE_TOO_LONG else Unavailable
                raise refused(
                    f"The embedding server refuses with status {answer.status_code}. Check CAIRN_EMBEDDING_URL, "
                    "CAIRN_EMBEDDING_MODEL and CAIRN_EMBEDDING_KEY."
                )
            content = bytearray()
            async for piece in answer.aiter_bytes():
                content += piece
                if len(content) > ANSWER_LARGEST:
                    raise Unavailable("The embedding server answers with more than 64 MB.")
        return self.vectors(bytes(content), len(texts))

    def vectors(self, content: bytes, count: int) -> list[Vector]:
        """Return the vectors of a response in the order of the texts. Raises Unavailable for an invalid response."""
        try:
            items = orjson.loads(content)["data"]
            placed = {item["index"]: item["embedding"] for item in items}
            found = [placed[place] for place in range(count)]
        except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
            raise Unavailable(
                "The response of the embedding server has no embeddings. Check CAIRN_EMBEDDING_URL."
            ) from None
        return [self.parse_vector(vector) for vector in found]

    def parse_vector(self, vector: Any) -> Vector:
        if not isinstance(vector, list) or not all(type(number) in (int, float) for number in vector):
            raise Unavailable("The response of the embedding server has no embeddings. Check CAIRN_EMBEDDING_URL.")
        if len(vector) != self.dimensions:
            raise Unavailable(
                f"The model {self.model} has {len(vector)} dimensions, not {self.dimensions}. Set "
                f"CAIRN_EMBEDDING_DIMENSIONS={len(vector)}, and run: cairn embeddings enable"
            )
        if not all(math.isfinite(number) and abs(number) < 60_000 for number in vector) or not any(vector):
            raise Unavailable("The embedding server answers with a vector that has no direction.")
        return [float(number) for number in vector]


class TooLong(Unavailable):
    """The server refuses a request, perhaps because its texts are too long for the model."""


class Busy(Unavailable):
    """The server is busy or broken. `after` is the number of seconds in its Retry-After header, if any."""

    def __init__(self, status: int, after: float | None) -> None:
        super().__init__(f"The embedding server is busy or broken: it answers with status {status}.")
        self.after = after


def endpoint(url: str) -> str:
    """Return the URL of the embeddings endpoint of a server such as `http://host:11434` or `…/v1`. Raises BadInput."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise BadInput("Give an address such as http://localhost:11434/v1.", "CAIRN_EMBEDDING_URL")
    base = url.rstrip("/")
    if base.endswith("/embeddings"):
        return base
    return f"{base}/embeddings" if base.endswith("/v1") else f"{base}/v1/embeddings"


def seconds(text: str | None) -> float | None:
    with suppress(TypeError, ValueError):
        return max(0.0, float(text or ""))
    return None
