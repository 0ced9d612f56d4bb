"""A cache of verified credentials, because verifying a signature takes longer than a typical request."""

import time
from collections.abc import Callable
from typing import NamedTuple

from db.scope import Scope
from lib.lru import LRU

SIZE = 4096  # credentials
TTL = 60.0  # seconds for which a key may still be accepted after its issuer has withdrawn it


class Verified(NamedTuple):
    """The scope of a verified credential. It need not be verified again until `until`, in seconds since 1970."""

    scope: Scope
    until: float
    resource: str | None = None
    """The only part of the service that accepts it, such as `https://wiki.example.org/mcp`; None stands for all."""


class CredentialCache:
    """Verified credentials by their value. Expired entries are not returned."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock` counts seconds since 1970."""
        self.clock = clock
        self.entries: LRU[Verified] = LRU(SIZE)

    def find(self, credential: str) -> Verified | None:
        found = self.entries.get(credential)
        return found if found is not None and found.until > self.clock() else None

    def keep(self, credential: str, scope: Scope, expires_at: float, resource: str | None = None) -> Verified:
        """Cache a verified credential until it expires, for at most TTL seconds."""
        return self.entries.put(credential, Verified(scope, min(expires_at, self.clock() + TTL), resource))
