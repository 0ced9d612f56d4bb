"""The scope of a call: whose wiki it works in, and what its credential may do. All that touches data takes it first."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
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


class Operation(NamedTuple):
    """A write as data: the name of the function that does it, and its arguments."""

    name: str
    arguments: Mapping[str, Any]


class Terms(NamedTuple):
    """The terms of a proposal that is made on purpose: why, on which evidence, and until when."""

    why: str
    evidence: tuple[str, ...] = ()
    significance: str = "medium"
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """A passage through the write policy of a wiki, where it is not as the role of the credential says."""

    reviewer: Actor | None = None
    """Who let the write pass: whoever accepted the proposal, or the actor itself for upkeep of what was allowed."""
    terms: Terms | None = None
    """The terms on which the write becomes a proposal, under whatever policy."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope, made once a request from the credential. It speaks for `owners`, and works in the wiki of `owner_id`."""

    tenant_id: UUID
    owner_id: UUID
    role: Role
    actor: Actor
    owners: tuple[UUID, ...]
    operation: Operation | None = field(default=None, repr=False, compare=False)
    """What it is about to write, where that can be proposed."""
    review: Review | None = field(default=None, repr=False, compare=False)
    reads_all: bool = field(default=False, repr=False, compare=False)
    """Whether it reads what is too sensitive for its role, too: an operator at the machine has the database anyway."""
    credential: str = field(init=False, repr=False, compare=False)
    """Who acts, in whichever wiki: an API key's id or a token's subject, and its tenant."""
    spans_tenant: bool = field(init=False, repr=False, compare=False)
    """Whether it acts in every owner's wiki of its tenant."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "credential", f"{self.tenant_id}:{self.actor.kind}:{self.actor.id}")
        object.__setattr__(self, "spans_tenant", self.role.spans_tenant)

    @property
    def actor_kind(self) -> str:
        return self.actor.kind

    @property
    def actor_id(self) -> str:
        return self.actor.id

    def in_owner(self, owner_id: UUID) -> "Scope":
        """Return this credential's scope in another wiki; resolvers.permissions decides whether it may work there."""
        return self if owner_id == self.owner_id else replace(self, owner_id=owner_id)

    def upkeep(self) -> "Scope":
        """Return this scope for work that no write policy holds up: it finishes, or erases, what was allowed before."""
        return replace(self, review=Review(reviewer=self.actor))
