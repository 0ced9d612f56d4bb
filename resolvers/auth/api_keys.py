"""API keys: for programs that act for an owner, or for a whole tenant. Only a key's hash is kept."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from secrets import token_urlsafe
from typing import TypeVar
from uuid import UUID

from content.limits import CALLED
from db.database import Database, Row
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from .. import validation
from ..errors import BadInput, Forbidden, IdempotencyKeyNotAllowed, NotFound, Unauthenticated
from ..permissions import covers
from ..transactions.transaction import transaction
from .owners import hold_owners, usual_actor

KEYS = statements("api_keys")
PREFIX = "cairn_"
OWNERS_MAX = 100
Named = TypeVar("Named", str, UUID)
KEY = re.compile(r"cairn_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key as it is handed out, this once: nobody can read it again."""

    id: UUID
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key without its secret. `owners` are slugs; the key works in the wiki of the first."""

    id: UUID
    name: str
    role: Role
    actor_kind: ActorKind
    owners: Sequence[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    @property
    def state(self) -> str:
        """Return the state of the key: active, expired or revoked."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= datetime.now(UTC) else "active"


async def create_api_key(
    database: Database,
    tenant_id: UUID,
    name: str,
    role: Role,
    owner_ids: Sequence[UUID],
    expires_at: datetime | None = None,
    actor_kind: ActorKind | None = None,
    *,
    maker: Role = Role.ADMIN,
) -> IssuedKey:
    """Create a key that speaks for these owners; the first of them is its own scope.

    History names the key as an author of `actor_kind`; when left out, of the kind that this owner is. `maker` is the
    role of the credential that asks for the key: no key has more rights than that.
    """
    if database.stores_answers:
        raise IdempotencyKeyNotAllowed(
            "An answer that shows a new API key is not stored, so it cannot be repeated. Send this without "
            "Idempotency-Key; if the answer is lost, revoke the key by its id and make another."
        )
    if not covers(maker, role):
        raise Forbidden(f"A credential with the role {maker} makes no API keys with the role {role}.")
    now = datetime.now(UTC)
    owners = list(dict.fromkeys(owner_ids))
    few_owners(owners)
    expires_at = None if expires_at is None else validation.moment(expires_at, "expiresAt")
    if expires_at is not None and expires_at <= now:
        raise BadInput("A key must expire in the future, or never.", "expiresAt")
    if actor_kind is ActorKind.COMPILER:
        raise BadInput("Who acts with a key is an agent, a user or a service.", "actor")
    issued = IssuedKey(new_id(), PREFIX + token_urlsafe(32))
    async with transaction(database) as connection:
        kinds = await hold_owners(connection, tenant_id, owners)
        await connection.run(
            KEYS["add_key"],
            key_hash=hashed(issued.key),
            tenant_id=tenant_id,
            id=issued.id,
            name=validation.line(name, "name", CALLED.most),
            role=role,
            owner_ids=owners,
            expires_at=expires_at,
            actor_kind=actor_kind or usual_actor(kinds[owners[0]], role),
        )
    return issued


def few_owners(owners: Sequence[Named]) -> Sequence[Named]:
    """Return the owners of a key, one to OWNERS_MAX: counted before any of them is looked up."""
    if not owners:
        raise BadInput("A key speaks for one owner at least.", "owners")
    return validation.few(owners, OWNERS_MAX, "owners")


async def list_api_keys(
    database: Database, tenant_id: UUID, *, after: UUID | None = None, limit: int | None = None
) -> list[ApiKey]:
    """Return the keys of a tenant, the oldest first, including expired and revoked ones.

    A page of the list is the keys that follow the id `after`, `limit` at most. Without them it is every key.
    """
    async with database.connection() as connection:
        rows = await connection.all(KEYS["list_keys"], tenant_id=tenant_id, after=after, most=limit)
    return [
        ApiKey(**row | {"role": Role(row["role"]), "actor_kind": ActorKind(row["actor_kind"])})
        for row in map(dict, rows)
    ]


async def revoke_api_key(database: Database, tenant_id: UUID, key_id: UUID) -> None:
    """Revoke a key: it is refused from the next request on. Revoking it again changes nothing."""
    async with transaction(database) as connection:
        if not await connection.run(KEYS["revoke_key"], tenant_id=tenant_id, id=key_id, now=datetime.now(UTC)):
            raise NotFound("There is no such API key.")


async def scope_of_key(database: Database, key: str) -> Scope:
    """Return the scope of a key. Raises Unauthenticated, which says what is wrong with it."""
    row = await find_key(database, key)
    owners = tuple(row["owner_ids"])
    actor = Actor(ActorKind(row["actor_kind"]), str(row["id"]))
    return Scope(row["tenant_id"], owners[0], Role(row["role"]), actor, owners)


async def find_key(database: Database, key: str) -> Row:
    """Return the row of a key that is valid now.

    It is looked up by the hash of 256 random bits, so the time that takes tells nothing about any key.
    """
    if not KEY.fullmatch(key):
        raise Unauthenticated("The API key is malformed.")
    async with database.connection() as connection:
        row = await connection.one(KEYS["find_key"], key_hash=hashed(key))
    if row is None:
        raise Unauthenticated("The API key is unknown.")
    if row["revoked_at"] is not None:
        raise Unauthenticated("The API key has been revoked.")
    if row["expires_at"] is not None and row["expires_at"] <= datetime.now(UTC):
        raise Unauthenticated("The API key has expired.")
    return row


def hashed(key: str) -> bytes:
    return sha256(key.encode()).digest()
