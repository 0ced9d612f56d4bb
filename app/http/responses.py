"""Sends an answer whole, compressed, or not at all if the client has it."""

import asyncio
import gzip
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import NamedTuple

from starlette.types import Scope, Send

from .request import header


def etag(body: bytes) -> str:
    """Return a strong tag: the same for the same bytes, and for no others."""
    return f'"{urlsafe_b64encode(sha256(body).digest()[:18]).decode()}"'


def matches(if_none_match: str | None, own: str) -> bool:
    """Compared weakly, as RFC 9110 has it for If-None-Match: the form that a proxy or we compressed is the same."""
    if if_none_match is None:
        return False
    known = [one.strip().removeprefix("W/") for one in if_none_match.split(",")]
    return own in known or known == ["*"]


LEVEL = 1
"""The fastest. On pages of the sample the slowest saves up to a sixth more for up to five times the time."""
GZIP_INLINE_MAX = 64_000
"""Bytes that take under a millisecond. More are compressed in a thread."""


def takes_gzip(accept_encoding: str | None) -> bool:
    """Return whether the client accepts gzip, by name or by `*`."""
    if accept_encoding is None:
        return False
    weights = dict(map(parse_coding, accept_encoding.lower().split(",")))
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def parse_coding(part: str) -> tuple[str, float]:
    """A coding and its weight; one that cannot be read is not wanted."""
    name, _, parameter = part.partition(";")
    weight = parameter.strip().removeprefix("q=") if parameter else "1"
    try:
        return name.strip(), float(weight)
    except ValueError:
        return name.strip(), 0.0


async def gzipped(body: bytes) -> bytes:
    if len(body) <= GZIP_INLINE_MAX:
        return gzip.compress(body, LEVEL, mtime=0)
    return await asyncio.to_thread(gzip.compress, body, LEVEL, mtime=0)


Headers = tuple[tuple[bytes, bytes], ...]
NO_STORE: Headers = ((b"cache-control", b"no-store"),)
# A reader's own copy, which asks each time whether it still holds: what is here may change at any moment.
REVALIDATED: Headers = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Authorization, Accept, Accept-Encoding, X-Cairn-Owner"),
)
COMPRESSED_INLINE_MAX = 1_000_000
"""Bytes that are hashed in a millisecond or two. More are hashed in a thread."""
GZIP: Headers = ((b"content-encoding", b"gzip"),)
PIECE = 262_144
"""Bytes of a large answer that are handed to the connection at once; the next ones when the client has taken these."""
STALLED = 30.0  # seconds that a client may take for a piece
UNREAD_MAX = 128_000_000
"""Bytes of large answers that the clients of one tenant leave unread in this process; more are refused."""


class Delivery(NamedTuple):
    """A response but for its type and its length."""

    status: int
    body: bytes
    headers: Headers


async def make_delivery(scope: Scope, status: int, body: bytes, compress_over: int) -> Delivery:
    """Return the response to send. `compress_over` in bytes, 0 for never. Only an answer to a GET may be cached."""
    if scope["method"] == "GET" and status == 200:
        return await make_tagged_delivery(scope, body, compress_over)
    if not 0 < compress_over < len(body):
        return Delivery(status, body, NO_STORE)
    vary = (*NO_STORE, (b"vary", b"Accept-Encoding"))
    if not takes_gzip(header(scope, b"accept-encoding")):
        return Delivery(status, body, vary)
    return Delivery(status, await gzipped(body), vary + GZIP)


async def make_tagged_delivery(scope: Scope, body: bytes, compress_over: int, tag: str | None = None) -> Delivery:
    """Return the response with its tag, by default one of the body. Compressed, the tag is weak: other bytes may stand
    for the same answer."""
    tag = tag or await make_etag(body)
    if matches(header(scope, b"if-none-match"), tag):
        return Delivery(304, b"", (*REVALIDATED, (b"etag", tag.encode())))
    if 0 < compress_over < len(body) and takes_gzip(header(scope, b"accept-encoding")):
        return Delivery(200, await gzipped(body), (*REVALIDATED, *GZIP, (b"etag", f"W/{tag}".encode())))
    return Delivery(200, body, (*REVALIDATED, (b"etag", tag.encode())))


async def make_etag(body: bytes) -> str:
    return etag(body) if len(body) <= COMPRESSED_INLINE_MAX else await asyncio.to_thread(etag, body)


class UnreadAnswers:
    """A count of the bytes of large answers that the clients of each borrower have not taken yet."""

    def __init__(self) -> None:
        self.sizes: Counter[Hashable] = Counter()

    def has_room(self, borrower: Hashable, size: int) -> bool:
        """Return whether the answer may be sent. A first one always may: however large it is, it was allowed."""
        return not self.sizes[borrower] or self.sizes[borrower] + size <= UNREAD_MAX

    @contextmanager
    def hold(self, borrower: Hashable, size: int) -> Iterator[None]:
        self.sizes[borrower] += size
        try:
            yield
        finally:
            self.sizes[borrower] -= size
            if not self.sizes[borrower]:
                del self.sizes[borrower]


async def send_pieces(send: Send, body: bytes) -> None:
    """Send the body in pieces, so that a slow client's answer lies in memory once. Raises TimeoutError if it stalls."""
    view = memoryview(body)
    for start in range(0, len(body), PIECE):
        is_last = start + PIECE >= len(body)
        async with asyncio.timeout(STALLED):
            await send(
                {"type": "http.response.body", "body": bytes(view[start : start + PIECE]), "more_body": not is_last}
            )
