"""Tenants, owners, API keys and tokens, as operators send and see them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from content.limits import CALLED, SLUG
from resolvers.auth.api_keys import NETWORKS_MAX, OVERLAP, OVERLAP_MAX, OWNERS_MAX
from resolvers.auth.owners import ENGLISH
from resolvers.proposals.gate import RULES_MAX, Policy, PolicyRule, WriterRole
from schema.enums import WikiOwnerKind, WikiPageType, WikiRole, WikiWriterRole

from ..models import Listed, Moment, RequestModel, ResponseModel

TTL_MAX = 86_400  # seconds
NewSlug = Annotated[str, Field(min_length=1, max_length=SLUG.most, examples=["acme"])]
Name = Annotated[
    str | None, Field(min_length=1, max_length=CALLED.most, description="The name for people; else the slug.")
]
OwnerName = Annotated[str, Field(min_length=1, max_length=SLUG.most, description="The owner's slug or id.")]
Role = Annotated[WikiRole, Field(strict=False, description="What the credential may do at most.")]
Actor = Literal["agent", "user", "service"]
KeyScope = Literal["wiki:read", "wiki:write", "wiki:admin"]
Ceiling = Literal["internal", "confidential", "secret"]
Threshold = Literal["low", "medium", "high"]
ActorGiven = Annotated[
    Actor | None, Field(description="The kind of author that history names; what the owner is if left out.")
]


class NewTenant(RequestModel):
    """A customer, with nothing in it."""

    slug: NewSlug
    name: Name = None


class NewOwner(RequestModel):
    """An owner with an empty wiki."""

    kind: Annotated[WikiOwnerKind, Field(strict=False)]
    slug: NewSlug
    name: Name = None
    language: Annotated[
        str, Field(max_length=CALLED.most, description="What its pages are written in, like german, de or de-AT.")
    ] = ENGLISH


class WriteRule(RequestModel):
    """A rule of a write policy. One for a type of pages goes before that for all types."""

    role: Annotated[WikiWriterRole, Field(strict=False)]
    page_type: Annotated[WikiPageType | None, Field(strict=False, description="All types if left out.")] = None
    policy: Annotated[Policy, Field(strict=False)]

    def rule(self) -> PolicyRule:
        return PolicyRule(WriterRole(self.role.value), self.policy, self.page_type and self.page_type.value)


class OwnerUpdate(RequestModel):
    """A change of an owner's settings. What is left out stays."""

    score_boost: Annotated[
        float | None,
        Field(ge=0, le=10, description="By what scores of its pages are multiplied beside evidence; 0.9 by default."),
    ] = None
    write_policy: Annotated[
        list[WriteRule] | None,
        Field(max_length=RULES_MAX, description="All rules anew. Writes that no rule is about are written."),
    ] = None
    min_sources_for_synthesis: Annotated[
        int | None, Field(ge=1, le=100, description="Sources that a page cites before a model writes its text.")
    ] = None
    stale_after_days: Annotated[
        int | None, Field(ge=1, le=3_650, description="Days without a change until lint calls a page stale.")
    ] = None
    oversize_characters: Annotated[
        int | None, Field(ge=1_000, le=1_000_000, description="Characters from which on lint calls a page too long.")
    ] = None
    lint_min_pages: Annotated[
        int | None, Field(ge=1, le=1_000, description="Pages that say a name before lint asks for its page.")
    ] = None
    lint_every_days: Annotated[
        int | None, Field(ge=0, le=365, description="Days until a worker lints the wiki again; 0 for never.")
    ] = None
    lint_after_sources: Annotated[
        int | None, Field(ge=0, le=1_000, description="New sources until a worker lints the wiki; 0 for never.")
    ] = None
    requires_sensitivity: Annotated[
        bool | None, Field(description="Whether lint asks for a sensitivity of every page.")
    ] = None
    reader_ceiling: Annotated[Ceiling | None, Field(description="The most sensitive that readers see.")] = None
    member_ceiling: Annotated[Ceiling | None, Field(description="The most sensitive that members by grant see.")] = None
    decision_threshold: Annotated[
        Threshold | None, Field(description="The least significance of a decision that gets a page.")
    ] = None


class NewKey(RequestModel):
    """An API key. The first owner's wiki is the one that it works in."""

    name: Annotated[str, Field(min_length=1, max_length=CALLED.most, description="What the key is for.")]
    role: Annotated[
        WikiRole | None, Field(strict=False, description="What it may do at most; what its scopes allow if left out.")
    ] = None
    scopes: Annotated[
        list[KeyScope] | None, Field(max_length=3, description="They take away what the role may besides.")
    ] = None
    networks: Annotated[
        list[Annotated[str, Field(max_length=50)]] | None,
        Field(
            max_length=NETWORKS_MAX, description="Networks from which it is accepted, like 203.0.113.0/24; else all."
        ),
    ] = None
    owners: Annotated[list[OwnerName], Field(min_length=1, max_length=OWNERS_MAX)]
    expires_at: Annotated[Moment | None, Field(description="When it ends by itself; never if left out.")] = None
    actor: ActorGiven = None


class KeyRotation(RequestModel):
    """Another secret for a key."""

    overlap_seconds: Annotated[
        int,
        Field(ge=0, le=int(OVERLAP_MAX.total_seconds()), description="For how long the former one is accepted still."),
    ] = int(OVERLAP.total_seconds())


class NewToken(RequestModel):
    """A signed token for one owner."""

    owner: OwnerName
    role: Role = WikiRole.MEMBER
    ttl: Annotated[int, Field(ge=1, le=TTL_MAX, description="How many seconds it lives.")] = 3600
    actor: ActorGiven = None


class Tenant(ResponseModel):
    """A customer. Nothing is ever shared between two of them."""

    id: UUID
    slug: str
    name: str
    created_at: datetime


class Tenants(Listed):
    """Tenants by slug."""

    items: list[Tenant]


class Owner(ResponseModel):
    """The owner of a wiki."""

    id: UUID
    kind: WikiOwnerKind
    slug: str
    name: str
    language: str
    score_boost: float
    write_policy: list[WriteRule]
    min_sources_for_synthesis: int
    stale_after_days: int
    oversize_characters: int
    lint_min_pages: int
    lint_every_days: int
    lint_after_sources: int
    requires_sensitivity: bool
    reader_ceiling: Ceiling
    member_ceiling: Ceiling
    decision_threshold: Threshold
    created_at: datetime


class Owners(Listed):
    """Owners of a tenant by slug."""

    items: list[Owner]


class ApiKey(ResponseModel):
    """An API key without the key itself. `owners` are slugs."""

    id: UUID
    name: str
    role: WikiRole
    actor: Actor
    owners: list[str]
    state: Literal["active", "expired", "revoked"]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    scopes: list[KeyScope]
    networks: list[str]
    used_at: Annotated[datetime | None, Field(description="To about a minute.")]
    former_until: Annotated[datetime | None, Field(description="Until when its former secret is accepted as well.")]


class ApiKeys(Listed):
    """API keys of a tenant, the oldest first; expired and revoked ones too."""

    items: list[ApiKey]


class IssuedKey(ResponseModel):
    """A new API key. `key` is shown this once: it is stored as a hash."""

    id: UUID
    key: str
    expires_at: datetime | None


class RotatedKey(ResponseModel):
    """An API key with another secret. `key` is shown this once; the former one is accepted until `former_until`."""

    id: UUID
    key: str
    former_until: datetime


class IssuedToken(ResponseModel):
    """A new token, for `Authorization: Bearer`."""

    token: str
    tenant_id: UUID
    owner_id: UUID
    role: WikiRole
    expires_in: Annotated[int, Field(description="Seconds.")]
