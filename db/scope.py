"""The scope of a call: the wiki it works in, and what its credential may do. All data access takes a scope."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID


class Role(StrEnum):
    """The role of a credential, which limits what it may do in every wiki."""

    READER = "reader"
    MEMBER = "member"
    SERVICE = "service"
    ADMIN = "admin"

    @property
    def spans_tenant(self) -> bool:
        """Return whether the credential may act in every wiki of its tenant, as services and admins do."""
        return self in (Role.SERVICE, Role.ADMIN)


class ActorKind(StrEnum):
    """The kind of an actor, as it is stored for the author of a revision."""

    AGENT = "agent"
    USER = "user"
    COMPILER = "compiler"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Actor:
    kind: ActorKind
    id: str


class Operation(NamedTuple):
    """A write as data: the name of the function that performs it, and its arguments."""

    name: str
    arguments: Mapping[str, Any]


class Terms(NamedTuple):
    """The terms of an explicit proposal: the reason, the evidence, its significance, and when it expires."""

    why: str
    evidence: tuple[str, ...] = ()
    significance: str = "medium"
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """An exception from the write policy of a wiki, which otherwise decides by the role of the credential."""

    reviewer: Actor | None = None
    """The actor that allowed the write: the reviewer who accepted the proposal, or the actor itself (Scope.upkeep)."""
    terms: Terms | None = None
    """The terms of the proposal that the write becomes, under any policy."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a request: it works in the wiki of `owner_id`, with the rights of `owners` and `role`."""

    tenant_id: UUID
    owner_id: UUID
    role: Role
    actor: Actor
    owners: tuple[UUID, ...]
    operation: Operation | None = field(default=None, repr=False, compare=False)
    """The write that the call is about to perform, if it can become a proposal."""
    review: Review | None = field(default=None, repr=False, compare=False)
    reads_all: bool = field(default=False, repr=False, compare=False)
    """Whether sensitive rows are not hidden, as for an operator, who has access to the database anyway."""
    credential: str = field(init=False, repr=False, compare=False)
    """A key of the credential in any wiki: the tenant, and the id of an API key or the subject of a token."""
    spans_tenant: bool = field(init=False, repr=False, compare=False)
    """Whether the credential may act in every wiki of its tenant."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "credential", f"{self.tenant_id}:{self.actor.kind}:{self.actor.id}")
        object.__setattr__(self, "spans_tenant", self.role.spans_tenant)

    @property
    def actor_kind(self) -> str:
        return self.actor.kind

    @property
    def actor_id(self) -> str:
        return self.actor.id

    @property
    def wiki_values(self) -> dict[str, Any]:
        """Return the parameters of statements that name the wiki."""
        return {"tenant_id": self.tenant_id, "owner_id": self.owner_id}

    def in_owner(self, owner_id: UUID) -> "Scope":
        """Return the scope in another wiki. resolvers.permissions decides whether the credential may work there."""
        return self if owner_id == self.owner_id else replace(self, owner_id=owner_id)

    def upkeep(self) -> "Scope":
        """Return the scope for writes that need no review, because they complete or erase what was allowed before."""
        return replace(self, review=Review(reviewer=self.actor))
