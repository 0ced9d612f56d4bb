"""Authentication: from the Authorization header to the scope of a request, the same for every transport."""

import time
from uuid import UUID

from db.database import Database
from db.scope import Scope

from ..errors import Forbidden, NoCredential, NotFound, Unauthenticated
from ..permissions import Action, authorise
from ..transactions.db_errors import translated_db_errors
from .api_keys import PREFIX, find_key, scope_of_key
from .credential_cache import TTL
from .tokens import Tokens

HEADER_MAX = 8192  # characters
NOT_YOURS = "X-Cairn-Owner names no owner whose wiki this credential may read."


class Credentials:
    """A check of a caller's credential: a signed token, or an API key. A token costs no statement, a key costs one."""

    def __init__(self, database: Database, tokens: Tokens) -> None:
        self.database, self.tokens = database, tokens

    async def scope(self, authorization: str | None, owner: str | None = None) -> Scope:
        """The scope of the credential, at work in the wiki of `owner` (an id) when it asks for one that it may read."""
        scope = await self.checked(authorization)
        return scope if owner is None else await self.at_work(scope, owner)

    async def checked(self, authorization: str | None) -> Scope:
        shown = bearer(authorization)
        with translated_db_errors():
            if shown.startswith(PREFIX):
                return await scope_of_key(self.database, shown)
            return await self.tokens.scope(shown)

    async def good_until(self, authorization: str | None) -> float:
        """Seconds since 1970 until which it need not be looked at again; Unauthenticated once it is good no more."""
        shown = bearer(authorization)
        if not shown.startswith(PREFIX):
            return (await self.tokens.find(shown)).until
        expires_at = (await find_key(self.database, shown))["expires_at"]
        again = time.time() + TTL
        return again if expires_at is None else min(again, expires_at.timestamp())

    async def at_work(self, scope: Scope, owner: str) -> Scope:
        """Move the scope to another owner's wiki. Unknown, foreign and unreadable owners get the same message."""
        try:
            owner_id = UUID(owner)
            with translated_db_errors():
                async with self.database.connection() as connection:
                    await authorise(connection, scope, owner_id, Action.READ)
        except (ValueError, NotFound):
            raise Forbidden(NOT_YOURS) from None
        return scope.in_owner(owner_id)


def bearer(authorization: str | None) -> str:
    """Return the credential that follows the word Bearer."""
    if not authorization:
        raise NoCredential("A credential is needed: send `Authorization: Bearer` with a token or an API key.")
    if len(authorization) > HEADER_MAX:
        raise Unauthenticated(f"The Authorization header is longer than {HEADER_MAX:,} characters.")
    kind, _, shown = authorization.strip(" ").partition(" ")
    shown = shown.strip(" ")
    if kind.lower() != "bearer" or not shown:
        raise Unauthenticated("The Authorization header must be the word Bearer and a token or an API key.")
    if not shown.isprintable() or " " in shown:
        raise Unauthenticated("The Authorization header holds characters that no credential has.")
    return shown
