"""Who asks, and how: what the headers of a request say, read once for all requests that say the same.

A client sends the same headers each time. Nothing is remembered of a request that was refused, nor of one whose
headers have to be looked at each time, and a credential only for as long as it is good without being looked at.
"""

from time import time
from typing import Any, NamedTuple

from starlette.types import Scope

from db.scope import Scope as Wiki
from selection.lru import LRU

from .request import KNOWN, headers_of

ENTRIES = 4096
SAID = (b"authorization", b"accept", b"content-type", b"content-encoding", b"idempotency-key", b"x-cairn-owner")
EACH_TIME = slice(4, 6)
"""Of what is said: a key is of one request, and who may work in another's wiki is asked of Postgres."""
LONGEST = 2048  # bytes of all of it
CALLER = "caller"
NOTHING: dict[str, Any] = {}


class Caller(NamedTuple):
    """The scope of a credential that is good until then, in seconds since 1970, and the media type that it accepts."""

    wiki: Wiki
    kind: str
    until: float = 0.0


class Callers(LRU[Caller]):
    """Who sends POSTs: any other request is looked at from the beginning."""

    def __init__(self) -> None:
        super().__init__(ENTRIES)

    def met(self, scope: Scope) -> Caller | None:
        """Where the head is known, it is known with it who sends it."""
        now, known = time(), scope.get(KNOWN, NOTHING)
        caller: Caller | None = known.get(CALLER)
        if caller is not None and caller.until > now:
            return caller
        caller = self.find(said(scope)) if scope["method"] == "POST" else None
        if caller is None or caller.until <= now:
            return None
        if KNOWN in scope:
            known[CALLER] = caller
        return caller

    def learn(self, scope: Scope, caller: Caller) -> None:
        """Once a request of theirs was read."""
        words = said(scope)
        is_usual = not any(words[EACH_TIME]) and sum(map(len, filter(None, words))) <= LONGEST
        if is_usual and caller.until and scope["method"] == "POST":
            self.keep(words, caller)


def said(scope: Scope) -> tuple[bytes | None, ...]:
    return tuple(map(headers_of(scope).get, SAID))
