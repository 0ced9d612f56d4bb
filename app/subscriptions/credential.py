"""What a stream was opened with: good for as long as it lasts, and only so long."""

import asyncio
import time

from db.scope import Scope
from resolvers.auth.credentials import Credentials
from resolvers.errors import Unavailable
from resolvers.transactions.db_errors import translated_db_errors

AGAIN = 5.0  # seconds, when the database could not be asked


class Credential:
    """The Authorization of one connection, and the wiki that it wants to work in."""

    def __init__(self, credentials: Credentials, authorization: str | None, owner: str | None) -> None:
        self.credentials, self.authorization, self.owner = credentials, authorization, owner
        self.known: Scope | None = None

    async def scope(self) -> Scope:
        """Asked anew for each operation where it is at work in another's wiki: that may be taken back."""
        if self.known is None or self.owner is not None:
            with translated_db_errors():
                self.known = await self.credentials.scope(self.authorization, self.owner)
        return self.known

    async def ends(self) -> None:
        """Raises Unauthenticated when it has expired or was taken back, within a minute of the latter."""
        while True:
            try:
                with translated_db_errors():
                    until = await self.credentials.good_until(self.authorization)
            except Unavailable:
                until = time.time() + AGAIN
            await asyncio.sleep(max(until - time.time(), 0))
