"""A cache of credentials that were verified: a check of a signature costs more than the request that it is for."""

import time
from collections.abc import Callable
from typing import NamedTuple

from db.scope import Scope
from lib.lru import LRU

SIZE = 4096  # credentials
TTL = 60.0  # seconds: for so long a key may still be accepted after its issuer has withdrawn it


class Verified(NamedTuple):
    """The scope of a credential, and until when, in seconds since 1970, it need not be checked again."""

    scope: Scope
    until: float
    resource: str | None = None
    """The one part of the service that it is for, as `https://wiki.example.org/mcp`; None if it is for all."""


class CredentialCache:
    """Verified credentials by their value. None is returned after it has expired."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock` counts seconds since 1970."""
        self.clock = clock
        self.entries: LRU[Verified] = LRU(SIZE)

    def find(self, credential: str) -> Verified | None:
        found = self.entries.get(credential)
        return found if found is not None and found.until > self.clock() else None

    def keep(self, credential: str, scope: Scope, expires_at: float, resource: str | None = None) -> Verified:
        """Keep it until it expires, and for TTL seconds at most."""
        return self.entries.put(credential, Verified(scope, min(expires_at, self.clock() + TTL), resource))
