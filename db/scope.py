"""The scope of a call: whose wiki it works in, and what its credential may do. All that touches data takes it first."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID


class Role(StrEnum):
    """The most that a credential may do, wherever it acts."""

    READER = "reader"
    MEMBER = "member"
    SERVICE = "service"
    ADMIN = "admin"

    @property
    def spans_tenant(self) -> bool:
        """Return whether it acts in every owner's wiki of its tenant, as services and admins do."""
        return self in (Role.SERVICE, Role.ADMIN)


class ActorKind(StrEnum):
    """The kind of actor that is written into history as the author."""

    AGENT = "agent"
    USER = "user"
    COMPILER = "compiler"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Actor:
    kind: ActorKind
    id: str


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope, made once a request from the credential. It speaks for `owners`, and works in the wiki of `owner_id`."""

    tenant_id: UUID
    owner_id: UUID
    role: Role
    actor: Actor
    owners: tuple[UUID, ...]
    credential: str = field(init=False, repr=False, compare=False)
    """Who acts, in whichever wiki: an API key's id or a token's subject, and its tenant."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "credential", f"{self.tenant_id}:{self.actor.kind}:{self.actor.id}")

    @property
    def actor_kind(self) -> str:
        return self.actor.kind

    @property
    def actor_id(self) -> str:
        return self.actor.id

    @property
    def spans_tenant(self) -> bool:
        return self.role.spans_tenant

    def in_owner(self, owner_id: UUID) -> "Scope":
        """Return this credential's scope in another wiki; resolvers.permissions decides whether it may work there."""
        return self if owner_id == self.owner_id else replace(self, owner_id=owner_id)
