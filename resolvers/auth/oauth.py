"""OAuth 2.1 authorizations of programs that people connect to their wiki.

Codes and refresh tokens are stored as hashes. They begin with the id of their tenant, so that the lookup is bound to
the tenant like every other statement.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from content.limits import AUTHOR
from db.connection import Connection, Row
from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from ..errors import Forbidden, NotFound
from ..permissions import Action, covers, is_allowed_in_own_wiki
from ..transactions.audit import Event, audit
from ..transactions.transaction import read_connection, transaction
from .api_keys import SCOPES, role_of_scopes
from .credentials import Signing, mint
from .secrets import hash_secret, new_secret, tenant_of

AUTHORIZATIONS = statements("access/oauth_authorizations")
CODE_TTL: Final = timedelta(minutes=1)
ACCESS_TTL: Final = timedelta(minutes=15)
"""The lifetime of an access token. It is short because an access token cannot be withdrawn, only its successors."""
LONGEST: Final = timedelta(days=90)
"""The lifetime of an authorization, after which the person has to authorize the program again."""
LISTED_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Client:
    """A program as it has registered itself. Only its redirect URI is verified."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """An authorization request of a program. `resource` is the part of the service for its tokens (RFC 8707)."""

    client: Client
    scopes: tuple[str, ...]
    resource: str
    redirect_uri: str
    redirect_is_given: bool
    code_challenge: str

    def reading(self) -> "AuthorizationRequest":
        """Return the same request with only the scope for reading."""
        return replace(self, scopes=("wiki:read",))


@dataclass(frozen=True, slots=True)
class Authorization:
    """An authorization of a program. Its remaining lifetime and that of its code are by the clock of Postgres."""

    tenant_id: UUID
    owner_id: UUID
    id: UUID
    client_hash: bytes
    role: Role
    author: str
    scopes: tuple[str, ...]
    resource: str
    redirect_uri: str
    redirect_is_given: bool
    code_challenge: str
    code_expires_in: timedelta
    expires_in: timedelta

    def is_of(self, client_id: str) -> bool:
        return self.client_hash == hash_secret(client_id)


class ConnectedProgram(NamedTuple):
    """A program that is connected to a wiki, as its owner sees it."""

    id: UUID
    client_name: str
    redirect_uri: str
    role: Role
    created_at: datetime
    used_at: datetime | None
    expires_at: datetime


class IssuedTokens(NamedTuple):
    """New tokens, which are shown only once. `expires_in` is the lifetime of the access token in seconds."""

    access_token: str
    refresh_token: str
    expires_in: int
    scopes: tuple[str, ...]


async def authorize(database: Database, scope: Scope, request: AuthorizationRequest, person: str) -> str:
    """Authorize a program for the scope's own wiki; return the code, which the program must redeem within a minute.

    The program gets the rights of its OAuth scopes, limited to those of the caller's credential. In the history it is
    an agent of the `person`. Raises Forbidden for another wiki than the caller's own.
    """
    if not is_allowed_in_own_wiki(scope, scope.owner_id, Action.READ):
        raise Forbidden("You can connect a program to your own wiki only.")
    requested_role = role_of_scopes(request.scopes) or Role.READER
    role = requested_role if covers(scope.role, requested_role) else scope.role
    code, id = new_secret(scope.tenant_id), new_id()
    async with transaction(database) as connection:
        where = scope.wiki_values
        await connection.run(AUTHORIZATIONS["delete_ended"], **where)
        await connection.run(
            AUTHORIZATIONS["add_authorization"],
            **where,
            id=id,
            client_hash=hash_secret(request.client.id),
            client_name=request.client.name,
            role=role,
            author=author_of(request.client, person),
            scopes=[name for name in request.scopes if covers(role, SCOPES[name])],
            resource=request.resource,
            redirect_uri=request.redirect_uri,
            redirect_is_given=request.redirect_is_given,
            code_hash=hash_secret(code),
            code_challenge=request.code_challenge,
            code_ttl=CODE_TTL,
            longest=LONGEST,
        )
        details = {"client": request.client.name, "role": role, "redirectUri": request.redirect_uri}
        await audit(connection, scope.tenant_id, scope.actor, Event.PROGRAM_AUTHORIZED, id, **details)
    return code


def author_of(client: Client, person: str) -> str:
    """Return the author in the history. As the subject of tokens it has only printable characters, so no joiners."""
    return (only_printable(client.name) + author_ending(person))[: AUTHOR.maximum]


def author_ending(person: str) -> str:
    """Return the words with which the authors of all programs of a person end."""
    return f" for {only_printable(person)}"


def only_printable(text: str) -> str:
    return "".join(filter(str.isprintable, text))


async def find_by_code(database: Database, code: str) -> Authorization | None:
    """Return the authorization of a code, whether it is redeemed or not; None for an unknown code."""
    if (tenant_id := tenant_of(code)) is None:
        return None
    async with read_connection(database) as connection:
        row = await connection.one(AUTHORIZATIONS["find_by_code"], tenant_id=tenant_id, code_hash=hash_secret(code))
    return None if row is None else from_row(row)


async def redeem_code(database: Database, signing: Signing, found: Authorization) -> IssuedTokens | None:
    """Redeem a code for the first tokens.

    A second attempt means that the code was stolen: it ends the authorization and returns None.
    """
    refresh_token = new_secret(found.tenant_id)
    async with transaction(database) as connection:
        redeemed = await connection.value(
            AUTHORIZATIONS["redeem_code"],
            tenant_id=found.tenant_id,
            id=found.id,
            refresh_hash=hash_secret(refresh_token),
        )
        if redeemed is not None:
            await audit(connection, found.tenant_id, actor_of(found), Event.PROGRAM_CONNECTED, found.id)
    if redeemed is None:
        await end(database, found, Event.PROGRAM_STOLEN)
        return None
    return issue_tokens(signing, found, refresh_token, found.scopes)


async def find_by_refresh_token(database: Database, token: str) -> Authorization | None:
    """Return the authorization of a refresh token, or None.

    The use of a replaced token means that the token was stolen: it ends the authorization.
    """
    if (tenant_id := tenant_of(token)) is None:
        return None
    async with read_connection(database) as connection:
        row = await connection.one(
            AUTHORIZATIONS["find_by_refresh_token"], tenant_id=tenant_id, refresh_hash=hash_secret(token)
        )
    if row is None:
        return None
    found = from_row(row)
    if not row["is_current"]:
        await end(database, found, Event.PROGRAM_STOLEN)
        return None
    return found


async def refresh(
    database: Database, signing: Signing, found: Authorization, token: str, scopes: Sequence[str]
) -> IssuedTokens | None:
    """Return new tokens and replace the refresh token; None if either has ended already."""
    following = new_secret(found.tenant_id)
    async with transaction(database) as connection:
        rotated = await connection.value(
            AUTHORIZATIONS["rotate_refresh_token"],
            tenant_id=found.tenant_id,
            id=found.id,
            refresh_hash=hash_secret(token),
            next_hash=hash_secret(following),
        )
    return None if rotated is None else issue_tokens(signing, found, following, tuple(scopes))


async def end(database: Database, found: Authorization, event: Event = Event.PROGRAM_WITHDRAWN) -> None:
    """End an authorization. Ending it again changes nothing."""
    async with transaction(database) as connection:
        await withdraw(connection, found.tenant_id, found.owner_id, found.id, actor_of(found), event)


async def withdraw(
    connection: Connection,
    tenant_id: UUID,
    owner_id: UUID,
    id: UUID,
    by: Actor,
    event: Event = Event.PROGRAM_WITHDRAWN,
) -> bool:
    """End an authorization of a wiki; return False if it does not exist or has ended already."""
    where = {"tenant_id": tenant_id, "owner_id": owner_id, "id": id}
    ended = await connection.value(AUTHORIZATIONS["withdraw_authorization"], **where)
    if ended is not None:
        await audit(connection, tenant_id, by, event, id)
    return ended is not None


async def find_programs(database: Database, scope: Scope) -> list[ConnectedProgram]:
    """Return the programs that are connected to the scope's own wiki, the newest first, 200 at most."""
    check_own(scope)
    async with read_connection(database) as connection:
        rows = await connection.all(
            AUTHORIZATIONS["list_authorizations"],
            tenant_id=scope.tenant_id,
            owner_id=scope.owner_id,
            limit=LISTED_MAX,
        )
    return [ConnectedProgram(**dict(row) | {"role": Role(row["role"])}) for row in rows]


async def disconnect_program(
    database: Database, scope: Scope, authorization_id: UUID, *, least: Action = Action.READ
) -> None:
    """End an authorization of the scope's own wiki, so that the program gets no new tokens. Raises NotFound.

    `least` is the action that a caller who is not an admin must be allowed in its own wiki. Raises Forbidden otherwise.
    """
    check_own(scope, least)
    async with transaction(database) as connection:
        ended = await withdraw(connection, scope.tenant_id, scope.owner_id, authorization_id, scope.actor)
    if not ended:
        raise NotFound("There is no such program, or it was disconnected before.")


def check_own(scope: Scope, least: Action = Action.READ) -> None:
    if scope.role is not Role.ADMIN and not is_allowed_in_own_wiki(scope, scope.owner_id, least):
        raise Forbidden("Only the owner of a wiki and admins of the tenant can manage its programs.")


def issue_tokens(signing: Signing, found: Authorization, refresh_token: str, scopes: tuple[str, ...]) -> IssuedTokens:
    """Sign the tokens of an authorization. Without a known scope they have all rights of the authorization."""
    assert signing.secret is not None
    requested_role = role_of_scopes(scopes) or found.role
    seconds = int(ACCESS_TTL.total_seconds())
    access_token = mint(
        signing.secret,
        tenant_id=found.tenant_id,
        owner_id=found.owner_id,
        role=requested_role if covers(found.role, requested_role) else found.role,
        ttl=seconds,
        actor=actor_of(found),
        issuer=signing.issuer,
        audience=found.resource,
    )
    return IssuedTokens(access_token, refresh_token, seconds, scopes)


def actor_of(found: Authorization) -> Actor:
    """Return the actor of a program."""
    return Actor(ActorKind.AGENT, found.author)


def from_row(row: Row) -> Authorization:
    fields = {name: row[name] for name in Authorization.__slots__}
    return Authorization(**fields | {"role": Role(row["role"]), "scopes": tuple(row["scopes"])})
