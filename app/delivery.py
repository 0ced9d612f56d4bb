"""How an answer travels: whole, compressed, or not at all where the client has it."""

import asyncio
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from starlette.types import Scope, Send

from .compression import gzipped, takes_gzip
from .etags import etag, matches
from .request import header

Headers = tuple[tuple[bytes, bytes], ...]
NO_STORE: Headers = ((b"cache-control", b"no-store"),)
# A reader's own copy, which asks each time whether it still holds: what is here may change at any moment.
REVALIDATED: Headers = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Authorization, Accept, Accept-Encoding, X-Cairn-Owner"),
)
AT_ONCE = 1_000_000
"""Bytes that are hashed in a millisecond or two. More are hashed beside the event loop."""
GZIP: Headers = ((b"content-encoding", b"gzip"),)
PIECE = 262_144
"""Bytes of a large answer that are handed to the connection at once; the next ones when the client has taken these."""
STALLED = 30.0  # seconds that a client may take for a piece
UNREAD_MAX = 128_000_000
"""Bytes of large answers that the clients of one tenant leave unread in this process; more are refused."""


class Delivery(NamedTuple):
    """What is sent, but for its type and its length."""

    status: int
    body: bytes
    headers: Headers


def is_plain(scope: Scope, body: bytes, compress_over: int) -> bool:
    """Does it travel as it is, and is kept by nobody?"""
    return scope["method"] != "GET" and not 0 < compress_over < len(body)


async def delivered(scope: Scope, status: int, body: bytes, compress_over: int) -> Delivery:
    """`compress_over` in bytes, 0 for never. Only what a GET asked for may be kept by the client."""
    if scope["method"] == "GET" and status == 200:
        return await revalidated(scope, body, compress_over)
    if not 0 < compress_over < len(body):
        return Delivery(status, body, NO_STORE)
    vary = (*NO_STORE, (b"vary", b"Accept-Encoding"))
    if not takes_gzip(header(scope, b"accept-encoding")):
        return Delivery(status, body, vary)
    return Delivery(status, await gzipped(body), vary + GZIP)


async def revalidated(scope: Scope, body: bytes, compress_over: int, tag: str | None = None) -> Delivery:
    """The tag of a compressed answer is weak: other bytes may stand for the same answer. None given: one of its own."""
    tag = tag or await tagged(body)
    if matches(header(scope, b"if-none-match"), tag):
        return Delivery(304, b"", (*REVALIDATED, (b"etag", tag.encode())))
    if 0 < compress_over < len(body) and takes_gzip(header(scope, b"accept-encoding")):
        return Delivery(200, await gzipped(body), (*REVALIDATED, *GZIP, (b"etag", f"W/{tag}".encode())))
    return Delivery(200, body, (*REVALIDATED, (b"etag", tag.encode())))


async def tagged(body: bytes) -> str:
    return etag(body) if len(body) <= AT_ONCE else await asyncio.to_thread(etag, body)


class Unread:
    """How much of large answers waits for the clients of each borrower to take it."""

    def __init__(self) -> None:
        self.sizes: Counter[Hashable] = Counter()

    def has_room(self, borrower: Hashable, size: int) -> bool:
        """A first answer always has: however large it is, it was allowed."""
        return size <= PIECE or not self.sizes[borrower] or self.sizes[borrower] + size <= UNREAD_MAX

    @contextmanager
    def held(self, borrower: Hashable, size: int) -> Iterator[None]:
        self.sizes[borrower] += size
        try:
            yield
        finally:
            self.sizes[borrower] -= size
            if not self.sizes[borrower]:
                del self.sizes[borrower]


async def send_body(send: Send, body: bytes) -> None:
    """Piece by piece, so that a slow client's answer lies in memory once. Raises TimeoutError for one that stalls."""
    if len(body) <= PIECE:
        await send({"type": "http.response.body", "body": body})
        return
    view = memoryview(body)
    for start in range(0, len(body), PIECE):
        is_last = start + PIECE >= len(body)
        async with asyncio.timeout(STALLED):
            await send(
                {"type": "http.response.body", "body": bytes(view[start : start + PIECE]), "more_body": not is_last}
            )
