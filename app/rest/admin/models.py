"""Request and response bodies of the admin API: tenants, owners, API keys and tokens."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from content.limits import DISPLAY_NAME, SLUG
from resolvers.auth.api_keys import NETWORKS_MAX, OVERLAP, OVERLAP_MAX, OWNERS_MAX
from resolvers.auth.owners import ENGLISH
from resolvers.proposals.gate import RULES_MAX, Policy, PolicyRule, WriterRole
from schema.enums import WikiOwnerKind, WikiPageType, WikiRole, WikiWriterRole

from ...moments import Moment
from ..models import Listed, RequestModel, ResponseModel

TTL_MAX = 86_400  # seconds
NewSlug = Annotated[str, Field(min_length=1, max_length=SLUG.maximum, examples=["acme"])]
Name = Annotated[
    str | None, Field(min_length=1, max_length=DISPLAY_NAME.maximum, description="Display name. Defaults to the slug.")
]
OwnerName = Annotated[str, Field(min_length=1, max_length=SLUG.maximum, description="Slug or id of the owner.")]
Role = Annotated[WikiRole, Field(strict=False, description="Maximum role of the credential.")]
Actor = Literal["agent", "user", "service"]
KeyScope = Literal["wiki:read", "wiki:write", "wiki:admin"]
Ceiling = Literal["internal", "confidential", "secret"]
Threshold = Literal["low", "medium", "high"]
ActorGiven = Annotated[
    Actor | None, Field(description="Kind of author that the history names. Defaults to the kind of the owner.")
]


class NewTenant(RequestModel):
    """Tenant to create."""

    slug: NewSlug
    name: Name = None


class NewOwner(RequestModel):
    """Owner to create, with an empty wiki."""

    kind: Annotated[WikiOwnerKind, Field(strict=False)]
    slug: NewSlug
    name: Name = None
    language: Annotated[
        str, Field(max_length=DISPLAY_NAME.maximum, description="Language of the pages, such as german, de or de-AT.")
    ] = ENGLISH


class WriteRule(RequestModel):
    """Rule of a write policy. A rule for one page type has precedence over a rule for all types."""

    role: Annotated[WikiWriterRole, Field(strict=False)]
    page_type: Annotated[
        WikiPageType | None, Field(strict=False, description="Type of the pages. Defaults to all.")
    ] = None
    policy: Annotated[Policy, Field(strict=False)]

    def rule(self) -> PolicyRule:
        return PolicyRule(WriterRole(self.role.value), self.policy, self.page_type and self.page_type.value)


class OwnerUpdate(RequestModel):
    """Changes of the settings of an owner. Omitted fields are unchanged."""

    score_boost: Annotated[
        float | None,
        Field(
            ge=0,
            le=10,
            description="Factor for scores of its pages when pages and sources are searched together. 0.9 by default.",
        ),
    ] = None
    write_policy: Annotated[
        list[WriteRule] | None,
        Field(
            max_length=RULES_MAX,
            description="Rules that replace the write policy. Writes without a matching rule are open.",
        ),
    ] = None
    min_sources_for_synthesis: Annotated[
        int | None,
        Field(ge=1, le=100, description="Number of sources that a page must cite before a model writes its text."),
    ] = None
    stale_after_days: Annotated[
        int | None, Field(ge=1, le=3_650, description="Days without a change after which lint reports a page as stale.")
    ] = None
    oversize_characters: Annotated[
        int | None,
        Field(ge=1_000, le=1_000_000, description="Number of characters from which lint reports a page as too long."),
    ] = None
    lint_min_pages: Annotated[
        int | None,
        Field(
            ge=1,
            le=1_000,
            description="Number of pages that must mention a name before lint reports that it needs a page.",
        ),
    ] = None
    lint_every_days: Annotated[
        int | None, Field(ge=0, le=365, description="Days between two runs of lint by a worker, or 0 for never.")
    ] = None
    lint_after_sources: Annotated[
        int | None,
        Field(ge=0, le=1_000, description="Number of new sources after which a worker runs lint, or 0 for never."),
    ] = None
    requires_sensitivity: Annotated[
        bool | None, Field(description="Whether lint asks for a sensitivity of every page.")
    ] = None
    reader_ceiling: Annotated[Ceiling | None, Field(description="Highest sensitivity that readers can read.")] = None
    member_ceiling: Annotated[
        Ceiling | None, Field(description="Highest sensitivity that members by grant can read.")
    ] = None
    decision_threshold: Annotated[
        Threshold | None, Field(description="Minimum significance of a decision that gets a page.")
    ] = None


class NewKey(RequestModel):
    """API key to create. The wiki of the first owner is the default."""

    name: Annotated[str, Field(min_length=1, max_length=DISPLAY_NAME.maximum, description="Purpose of the key.")]
    role: Annotated[
        WikiRole | None, Field(strict=False, description="Maximum role. Defaults to the role that the scopes allow.")
    ] = None
    scopes: Annotated[list[KeyScope] | None, Field(max_length=3, description="Scopes that limit the role.")] = None
    networks: Annotated[
        list[Annotated[str, Field(max_length=50)]] | None,
        Field(
            max_length=NETWORKS_MAX,
            description="Networks from which the key is accepted, such as 203.0.113.0/24. Defaults to all.",
        ),
    ] = None
    owners: Annotated[list[OwnerName], Field(min_length=1, max_length=OWNERS_MAX)]
    expires_at: Annotated[Moment | None, Field(description="Time at which it expires. Defaults to never.")] = None
    actor: ActorGiven = None


class KeyRotation(RequestModel):
    """Rotation of the secret of a key."""

    overlap_seconds: Annotated[
        int,
        Field(
            ge=0, le=int(OVERLAP_MAX.total_seconds()), description="Seconds for which the old secret is still accepted."
        ),
    ] = int(OVERLAP.total_seconds())


class NewToken(RequestModel):
    """Token to create for one owner."""

    owner: OwnerName
    role: Role = WikiRole.MEMBER
    ttl: Annotated[int, Field(ge=1, le=TTL_MAX, description="Lifetime in seconds.")] = 3600
    actor: ActorGiven = None


class Tenant(ResponseModel):
    """Tenant. Tenants share no data."""

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
    """API key without the key itself. `owners` are slugs."""

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
    used_at: Annotated[datetime | None, Field(description="Time of the last use, to about a minute.")]
    former_until: Annotated[datetime | None, Field(description="Time until which the former secret is accepted.")]


class ApiKeys(Listed):
    """API keys of a tenant, oldest first, including expired and revoked ones."""

    items: list[ApiKey]


class IssuedKey(ResponseModel):
    """New API key. `key` is shown only once: it is stored as a hash."""

    id: UUID
    key: str
    expires_at: datetime | None


class RotatedKey(ResponseModel):
    """API key with its new secret. `key` is shown only once; the former one is accepted until `former_until`."""

    id: UUID
    key: str
    former_until: datetime


class IssuedToken(ResponseModel):
    """New token for `Authorization: Bearer`."""

    token: str
    tenant_id: UUID
    owner_id: UUID
    role: WikiRole
    expires_in: Annotated[int, Field(description="Lifetime in seconds.")]
