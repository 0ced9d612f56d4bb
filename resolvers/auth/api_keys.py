"""API keys for programs that act for owners or for a whole tenant. Only the hash of a key is stored."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from secrets import token_urlsafe
from typing import Any, TypeVar
from uuid import UUID

from content.limits import DISPLAY_NAME
from db.connection import Row
from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements
from observability.trace import CLIENT_ADDRESS

from .. import validation
from ..errors import BadInput, Forbidden, IdempotencyKeyNotAllowed, NotFound, Unauthenticated
from ..permissions import covers
from ..transactions.audit import MACHINE, Event, audit
from ..transactions.transaction import transaction
from .owners import lock_owners, usual_actor
from .secrets import hash_secret

KEYS = statements("access/api_keys")
PREFIX = "cairn_"
OWNERS_MAX = 100
NETWORKS_MAX = 50
OVERLAP = timedelta(hours=24)
"""The default time for which the former secret of a rotated key stays valid."""
OVERLAP_MAX = timedelta(days=90)
SCOPES: dict[str, Role] = {"wiki:read": Role.READER, "wiki:write": Role.MEMBER, "wiki:admin": Role.ADMIN}
"""The scopes of OAuth and of API keys, the weakest first, each with the role that it allows."""
Named = TypeVar("Named", str, UUID)
Network = IPv4Network | IPv6Network
KEY = re.compile(r"cairn_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key with its secret, which is shown only once. `former_until` is the expiry of a former secret."""

    id: UUID
    key: str = field(repr=False)
    former_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """The limits of a key besides its role: OAuth scopes and networks. An empty list is no limit."""

    scopes: Sequence[str] = ()
    networks: Sequence[str] = ()

    def clean(self) -> "KeyLimits":
        """Return the limits with validated scopes and normalised networks. Raises BadInput."""
        if unknown := [name for name in self.scopes if name not in SCOPES]:
            raise BadInput(f"There is no scope `{unknown[0][:50]}`. Scopes are {', '.join(SCOPES)}.", "scopes")
        networks = validation.check_count(self.networks, NETWORKS_MAX, "networks")
        return KeyLimits([name for name in SCOPES if name in self.scopes], list(dict.fromkeys(map(network, networks))))

    def role(self, role: Role | None) -> Role:
        """Return the role limited by the scopes, or that of the scopes without a role. Raises BadInput for neither."""
        scope_role = role_of_scopes(self.scopes)
        if role is None:
            if scope_role is None:
                raise BadInput("Give the key a role, or scopes.", "role")
            return scope_role
        return role if scope_role is None or covers(scope_role, role) else scope_role


class KeyRefused(Unauthenticated):
    """The key exists, but is revoked, expired, or was replaced by another secret."""

    def __init__(self, message: str, row: Row) -> None:
        super().__init__(message)
        self.tenant_id, self.key_id = row["tenant_id"], row["id"]


class NetworkRefused(Forbidden):
    """The key may not be used from the network address of the client."""

    def __init__(self, row: Row) -> None:
        super().__init__("This API key may not be used from this network address.")
        self.tenant_id, self.key_id = row["tenant_id"], row["id"]


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
    scopes: Sequence[str]
    networks: Sequence[str]
    used_at: datetime | None
    former_until: datetime | None
    is_expired: bool

    @property
    def state(self) -> str:
        """Return the state of the key: active, expired or revoked."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.is_expired else "active"


async def create_api_key(
    database: Database,
    tenant_id: UUID,
    name: str,
    role: Role | None,
    owner_ids: Sequence[UUID],
    expires_at: datetime | None = None,
    actor_kind: ActorKind | None = None,
    *,
    limits: KeyLimits = KeyLimits(),
    maker: Role = Role.ADMIN,
    by: Actor = MACHINE,
) -> IssuedKey:
    """Create a key that acts for these owners, by default in the wiki of the first.

    Its rights are those of the role, limited by the scopes; without a role they are those of the scopes. In the history
    the key is an author of the kind `actor_kind`, by default the kind of the first owner. `maker` is the role of the
    credential that creates the key. Raises Forbidden if the key would have more rights than that.
    """
    check_is_not_stored(database)
    limits = limits.clean()
    role = role or limits.role(None)
    if not covers(maker, role):
        raise Forbidden(f"A credential with the role {maker} cannot create API keys with the role {role}.")
    now = datetime.now(UTC)
    owners = list(dict.fromkeys(owner_ids))
    few_owners(owners)
    expires_at = None if expires_at is None else validation.timestamp(expires_at, "expiresAt")
    if expires_at is not None and expires_at <= now:
        raise BadInput("A key must expire in the future, or never.", "expiresAt")
    if actor_kind is ActorKind.COMPILER:
        raise BadInput("The actor of a key must be an agent, a user or a service.", "actor")
    issued, called = IssuedKey(new_id(), new_secret()), validation.line(name, "name", DISPLAY_NAME.maximum)
    async with transaction(database) as connection:
        kinds = await lock_owners(connection, tenant_id, owners)
        await connection.run(
            KEYS["add_key"],
            key_hash=hash_secret(issued.key),
            tenant_id=tenant_id,
            id=issued.id,
            name=called,
            role=role,
            owner_ids=owners,
            expires_at=expires_at,
            actor_kind=actor_kind or usual_actor(kinds[owners[0]], role),
            scopes=limits.scopes,
            networks=limits.networks,
        )
        details = {"name": called, "role": role, "owners": [*map(str, owners)], "expiresAt": expires_at}
        await audit(connection, tenant_id, by, Event.KEY_CREATED, issued.id, **details, **asdict(limits))
    return issued


async def rotate_api_key(
    database: Database, tenant_id: UUID, key_id: UUID, overlap: timedelta = OVERLAP, *, by: Actor = MACHINE
) -> IssuedKey:
    """Give a key a new secret. The current secret stays valid for the time of the overlap, and older ones do not.

    Id, role, owners, limits and expiry stay. Raises NotFound for a key that is revoked or expired.
    """
    check_is_not_stored(database)
    if not timedelta() <= overlap <= OVERLAP_MAX:
        raise BadInput(f"The former secret may be good for {OVERLAP_MAX.days} days at most.", "overlapSeconds")
    key, where = new_secret(), {"tenant_id": tenant_id, "id": key_id}
    async with transaction(database) as connection:
        until: datetime | None = await connection.value(
            KEYS["rotate_key"], **where, key_hash=hash_secret(key), overlap=overlap
        )
        if until is None:
            raise NotFound("There is no such API key, or it has ended.")
        await audit(connection, tenant_id, by, Event.KEY_ROTATED, key_id, formerUntil=until)
    return IssuedKey(key_id, key, until)


def check_is_not_stored(database: Database) -> None:
    if database.stores_answers:
        raise IdempotencyKeyNotAllowed(
            "An answer that shows a new API key is not stored, so it cannot be repeated. Send this without "
            "Idempotency-Key; if the answer is lost, revoke the key by its id and make another."
        )


def network(text: str) -> str:
    """Return a network in its normal form; an address becomes a network of one address. Raises BadInput.

    IPv4 addresses in the form of IPv6 (`::ffff:203.0.113.7`), as logs may show them, become IPv4 addresses.
    """
    try:
        found = ip_network(text.strip())
    except ValueError:
        raise BadInput(
            f"`{text[:50]}` is not a network. Write it as 203.0.113.0/24 or 2001:db8::/32, or give an address.",
            "networks",
        ) from None
    return str(unmapped(found))


def unmapped(network: Network) -> Network:
    """Return a network of IPv4 addresses in the form of IPv6 as an IPv4 network, and any other one unchanged."""
    if isinstance(network, IPv6Network) and network.prefixlen >= 96 and (first := network.network_address.ipv4_mapped):
        return IPv4Network((first, network.prefixlen - 96))
    return network


def is_within(address: str | None, networks: Sequence[str]) -> bool:
    """Return whether an address is in one of the networks. An unknown address is in none.

    Networks that were stored by an older release may be in the form of IPv6, too.
    """
    try:
        found = ip_address(address or "")
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None) or found
    return any(mapped in unmapped(ip_network(allowed)) for allowed in networks)


def role_of_scopes(scopes: Any) -> Role | None:
    """Return the role of the strongest known OAuth scope in a list or in a text of words; None for no known scope."""
    words = scopes.split() if isinstance(scopes, str) else scopes
    if not isinstance(words, list | tuple):
        return None
    return next((role for word, role in reversed(SCOPES.items()) if word in words), None)


def few_owners(owners: Sequence[Named]) -> Sequence[Named]:
    """Return the owners of a key. Raises BadInput, before any owner is looked up, for none or more than OWNERS_MAX."""
    if not owners:
        raise BadInput("An API key needs at least one owner.", "owners")
    return validation.check_count(owners, OWNERS_MAX, "owners")


async def list_api_keys(
    database: Database, tenant_id: UUID, *, after: UUID | None = None, limit: int | None = None
) -> list[ApiKey]:
    """Return the keys of a tenant, the oldest first, including expired and revoked ones.

    By default these are all keys, else those after the id `after`, `limit` at most.
    """
    async with database.connection() as connection:
        rows = await connection.all(KEYS["list_keys"], tenant_id=tenant_id, after=after, limit=limit)
    return [
        ApiKey(**row | {"role": Role(row["role"]), "actor_kind": ActorKind(row["actor_kind"])})
        for row in map(dict, rows)
    ]


async def revoke_api_key(database: Database, tenant_id: UUID, key_id: UUID, *, by: Actor = MACHINE) -> None:
    """Revoke a key, which is refused from the next request on. Revoking it again changes nothing. Raises NotFound."""
    async with transaction(database) as connection:
        if not await connection.run(KEYS["revoke_key"], tenant_id=tenant_id, id=key_id):
            raise NotFound("There is no such API key.")
        await audit(connection, tenant_id, by, Event.KEY_REVOKED, key_id)


async def scope_of_key(database: Database, key: str) -> Scope:
    """Return the scope of a key. Raises Unauthenticated or NetworkRefused with the reason if the key is not valid."""
    row = await find_key(database, key)
    owners = tuple(row["owner_ids"])
    actor = Actor(ActorKind(row["actor_kind"]), str(row["id"]))
    role = KeyLimits(row["scopes"]).role(Role(row["role"]))
    return Scope(row["tenant_id"], owners[0], role, actor, owners)


async def find_key(database: Database, key: str) -> Row:
    """Return the row of a key that is valid now, by the clock of Postgres. Raises Unauthenticated or NetworkRefused.

    A key is looked up by the hash of its 256 random bits, so the duration of the lookup reveals nothing about keys.
    """
    if not KEY.fullmatch(key):
        raise Unauthenticated("The API key is malformed.")
    async with database.connection() as connection:
        row = await connection.one(KEYS["find_key"], key_hash=hash_secret(key))
    if row is None:
        raise Unauthenticated("The API key is unknown.")
    now, former_until = row["now"], row["former_until"]
    if row["revoked_at"] is not None:
        raise KeyRefused("The API key has been revoked.", row)
    if row["expires_at"] is not None and row["expires_at"] <= now:
        raise KeyRefused("The API key has expired.", row)
    if former_until is not None and former_until <= now:
        raise KeyRefused("The API key has been rotated. Use its new secret.", row)
    if row["networks"] and not is_within(CLIENT_ADDRESS.get(), row["networks"]):
        raise NetworkRefused(row)
    return row


def new_secret() -> str:
    return PREFIX + token_urlsafe(32)
