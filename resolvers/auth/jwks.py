"""The public keys of a token issuer, which are fetched without blocking and cached."""

import asyncio
import math
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx
import structlog
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from ..errors import BadInput, Unauthenticated, Unavailable

ALGORITHMS: Final = ("RS256", "ES256")
TTL = 600.0  # seconds before the keys are fetched again
KEEP = 3600.0  # seconds for which cached keys are used when the issuer cannot be reached
PAUSE = 30.0  # seconds between two fetches, so that tokens with unknown keys cannot cause more requests
TIMEOUT = 5.0

log = structlog.get_logger(__name__)


class Jwks:
    """The cached keys of one JWKS URL."""

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds."""
        self.url = checked(url)
        self.clock = clock
        self.keys: list[PyJWK] = []
        self.fetched_at = self.tried_at = -math.inf
        self.fetching: asyncio.Task[None] | None = None

    async def key(self, kid: str | None, algorithm: str) -> PyJWK:
        """Return the key with this id for this algorithm. The id may be None if there is only one key.

        Raises Unauthenticated for an unknown key, and Unavailable if the keys cannot be fetched.
        """
        found = self.find(kid, algorithm)
        if found is None or self.age > TTL:
            await self.refresh()
            found = self.find(kid, algorithm)
        if found is not None:
            return found
        if self.age > KEEP:
            raise Unavailable("The signing keys of the token issuer cannot be fetched. Try again in a moment.")
        raise Unauthenticated("The token is signed with an unknown key.")

    @property
    def age(self) -> float:
        return self.clock() - self.fetched_at

    def find(self, kid: str | None, algorithm: str) -> PyJWK | None:
        if self.age > KEEP:
            return None
        fitting = [key for key in self.keys if key.algorithm_name == algorithm and kid in (None, key.key_id)]
        return fitting[0] if fitting and (kid is not None or len(fitting) == 1) else None

    async def refresh(self) -> None:
        """Fetch the keys once for all waiting requests. The cancellation of one request does not cancel the fetch."""
        if self.fetching is None:
            if self.clock() - self.tried_at < PAUSE:
                return
            self.fetching = asyncio.create_task(self.fetch())
        await asyncio.shield(self.fetching)

    async def fetch(self) -> None:
        """Replace the keys; if the fetch fails, keep the old ones and log the reason."""
        try:
            async with asyncio.timeout(TIMEOUT), httpx.AsyncClient(timeout=TIMEOUT) as client:
                response = await client.get(self.url)
            self.keys = read_keys(response.raise_for_status().json())
            self.fetched_at = self.clock()
        except (httpx.HTTPError, ssl.SSLError, TimeoutError, ValueError, RecursionError) as error:
            log.warning("jwks_not_fetched", url=self.url, reason=str(error) or type(error).__name__)
        finally:
            self.tried_at = self.clock()
            self.fetching = None


def checked(url: str) -> str:
    """Return the URL. Raises BadInput for an invalid one, when the server starts and not with the first token."""
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        parts = httpx.URL()
    if parts.scheme not in ("http", "https") or not parts.host:
        raise BadInput("The JWKS URL must be a full http(s) address.", "jwksUrl")
    return url


def read_keys(document: Any) -> list[PyJWK]:
    """Return the keys of a JWKS document that can verify signatures by our algorithms; other keys are ignored."""
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ValueError("the document is not a JSON Web Key Set")
    keys = [read_key(entry) for entry in entries if is_public_signing_key(entry)]
    return [key for key in keys if key is not None]


def is_public_signing_key(entry: Any) -> bool:
    """Return whether an entry is a public signing key. A published private key is refused: anybody can sign with it."""
    return isinstance(entry, Mapping) and entry.get("use", "sig") == "sig" and "d" not in entry


def read_key(entry: dict[str, Any]) -> PyJWK | None:
    """Return the key of an entry, or None. Symmetric keys are refused: a reader of the document could sign by them."""
    try:
        key = PyJWK(entry)
    except (PyJWTError, ValueError, TypeError, AttributeError, KeyError):
        return None
    return key if key.algorithm_name in ALGORITHMS else None
