"""Prepares responses: compressed, with an ETag, or as 304 if the client has the same body; and sends large bodies."""

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


def compute_etag(body: bytes) -> str:
    """Return a strong ETag, which identifies the bytes of the body."""
    return f'"{urlsafe_b64encode(sha256(body).digest()[:18]).decode()}"'


def etag_matches(if_none_match: str | None, tag: str) -> bool:
    """Return whether the If-None-Match header includes an ETag, by weak comparison (RFC 9110).

    A compressed response matches too, whether a proxy or this service compressed it.
    """
    if if_none_match is None:
        return False
    known = [item.strip().removeprefix("W/") for item in if_none_match.split(",")]
    return tag in known or known == ["*"]


GZIP_LEVEL = 1
"""The fastest level. On the sample pages the slowest level saves up to a sixth more, in up to five times the time."""
GZIP_INLINE_MAX = 64_000
"""Bytes of a body that is compressed in less than a millisecond. A larger body is compressed in a thread."""


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Return whether the client accepts gzip, by name or by `*`."""
    if accept_encoding is None:
        return False
    weights = dict(map(parse_encoding, accept_encoding.lower().split(",")))
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def parse_encoding(part: str) -> tuple[str, float]:
    """Return an encoding and its weight, which is 0 if it cannot be parsed."""
    name, _, parameter = part.partition(";")
    weight = parameter.strip().removeprefix("q=") if parameter else "1"
    try:
        return name.strip(), float(weight)
    except ValueError:
        return name.strip(), 0.0


async def compress(body: bytes) -> bytes:
    if len(body) <= GZIP_INLINE_MAX:
        return gzip.compress(body, GZIP_LEVEL, mtime=0)
    return await asyncio.to_thread(gzip.compress, body, GZIP_LEVEL, mtime=0)


Headers = tuple[tuple[bytes, bytes], ...]
NO_STORE: Headers = ((b"cache-control", b"no-store"),)
# The browser's cache may keep the response, but must revalidate it on each use, since it may change at any moment.
REVALIDATED: Headers = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Authorization, Accept, Accept-Encoding, X-Cairn-Owner"),
)
HASH_INLINE_MAX = 1_000_000
"""Bytes of a body that is hashed within a millisecond or two. A larger body is hashed in a thread."""
GZIP: Headers = ((b"content-encoding", b"gzip"),)
PIECE_SIZE = 262_144
"""Bytes of a large body that are sent at once. The next piece is sent once the client has taken this one."""
PIECE_TIMEOUT = 30.0  # seconds that a client may take to receive a piece
UNREAD_MAX = 128_000_000
"""Bytes of large responses that the clients of a tenant may leave unread in this process. More are refused."""


class Delivery(NamedTuple):
    """A response without its Content-Type and Content-Length headers."""

    status: int
    body: bytes
    headers: Headers


async def make_delivery(scope: Scope, status: int, body: bytes, compress_over: int) -> Delivery:
    """Return the response to send, compressed if it is larger than `compress_over` bytes (0: never).

    Only the response to a GET may be cached.
    """
    if scope["method"] == "GET" and status == 200:
        return await make_tagged_delivery(scope, body, compress_over)
    if not 0 < compress_over < len(body):
        return Delivery(status, body, NO_STORE)
    vary = (*NO_STORE, (b"vary", b"Accept-Encoding"))
    if not accepts_gzip(header(scope, b"accept-encoding")):
        return Delivery(status, body, vary)
    return Delivery(status, await compress(body), vary + GZIP)


async def make_tagged_delivery(scope: Scope, body: bytes, compress_over: int, tag: str | None = None) -> Delivery:
    """Return the response with an ETag, by default computed from the body, or a 304 if the client has it.

    The ETag of a compressed response is weak, because different bytes may stand for the same body.
    """
    tag = tag or await make_etag(body)
    if etag_matches(header(scope, b"if-none-match"), tag):
        return Delivery(304, b"", (*REVALIDATED, (b"etag", tag.encode())))
    if 0 < compress_over < len(body) and accepts_gzip(header(scope, b"accept-encoding")):
        return Delivery(200, await compress(body), (*REVALIDATED, *GZIP, (b"etag", f"W/{tag}".encode())))
    return Delivery(200, body, (*REVALIDATED, (b"etag", tag.encode())))


async def make_etag(body: bytes) -> str:
    return compute_etag(body) if len(body) <= HASH_INLINE_MAX else await asyncio.to_thread(compute_etag, body)


class UnreadAnswers:
    """Counts the bytes of large responses that the clients of each borrower have not received yet."""

    def __init__(self) -> None:
        self.sizes: Counter[Hashable] = Counter()

    def has_room(self, borrower: Hashable, size: int) -> bool:
        """Return whether a response may be sent. If no other is unread, it may, whatever its size."""
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
    """Send the body in pieces, so that the response to a slow client is in memory only once.

    Raises TimeoutError if the client takes longer than PIECE_TIMEOUT for a piece.
    """
    view = memoryview(body)
    for start in range(0, len(body), PIECE_SIZE):
        is_last = start + PIECE_SIZE >= len(body)
        async with asyncio.timeout(PIECE_TIMEOUT):
            piece = bytes(view[start : start + PIECE_SIZE])
            await send({"type": "http.response.body", "body": piece, "more_body": not is_last})
