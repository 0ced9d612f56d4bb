"""Owners of wikis, and API keys."""

from datetime import datetime

import strawberry

from db import relations
from db.access import BY_ID, OF_TENANT_AS_ADMIN

from .enums import (
    WikiApiKeyState,
    WikiAuthorKind,
    WikiOwnerKind,
    WikiPageType,
    WikiRole,
    WikiSensitivity,
    WikiSignificance,
    WikiWritePolicy,
    WikiWriterRole,
)
from .fields import Connection, Node, OwnerName, column, expression, relation, source, whole

owners = relations.owners


@strawberry.type(description="A tenant. Tenants share no data.")
class WikiTenant:
    id: strawberry.ID = column("Id of the tenant.", name="tenant_id")
    slug: str = column("Slug of the tenant.")
    name: str = column("Display name.")


@strawberry.type(
    description="Rule of a write policy. A rule for one page type has precedence over a rule for all types."
)
class WikiWriteRule:
    role: WikiWriterRole = column("Role of the writer.")
    page_type: WikiPageType | None = column("Type of the pages. Null for all.")
    policy: WikiWritePolicy = column("Policy for these writes.")


@strawberry.type(description="Owner of a wiki: an agent, a user or a shared space.")
class WikiOwner(Node):
    kind: WikiOwnerKind = column("Agent, user or shared space.")
    slug: str = column("Slug of the owner, unique in the tenant.")
    name: str = column("Display name.")
    language: str = column("Language of the pages, unless a page has its own. Search stems words by it.")
    score_boost: float = column(
        "Factor for scores of its pages when pages and sources are searched together: 0 to 10, 0.9 by default."
    )
    min_sources_for_synthesis: int = column(
        "Number of sources that a page must cite before a model writes its text. Pages with fewer sources quote them."
    )
    write_policy: list[WikiWriteRule] = whole(
        owners.write_rules,
        "Write policy: rules by which writes become proposals or are refused. All other writes are open.",
    )
    stale_after_days: int = column("Days without a change after which lint reports a page as stale. 90 by default.")
    oversize_characters: int = column(
        "Number of characters from which lint reports a page as too long. 20,000 by default."
    )
    lint_min_pages: int = column(
        "Number of pages that must mention a name before lint reports that it needs a page. 3 by default."
    )
    lint_every_days: int = column("Days between two runs of lint by a worker. 7 by default, 0 for never.")
    lint_after_sources: int = column(
        "Number of new compiled sources after which a worker runs lint. 5 by default, 0 for never."
    )
    reader_ceiling: WikiSensitivity = column("Highest sensitivity that readers can read. INTERNAL by default.")
    member_ceiling: WikiSensitivity = column(
        "Highest sensitivity that members by grant can read. CONFIDENTIAL by default. Own members can read everything."
    )
    decision_threshold: WikiSignificance = column(
        "Minimum significance of a decision that gets a page; others are only logged. MEDIUM by default."
    )
    requires_sensitivity: bool = column("Whether lint reports pages without a sensitivity. False by default.")
    created_at: datetime = column("Time of creation.")
    role: WikiRole | None = expression(owners.role, "Role of the caller in this wiki.")


@strawberry.type(description="The caller, as identified by its credential.")
class WikiViewer:
    tenant: WikiTenant = relation(owners.tenant, "The tenant of the credential.")
    owner: WikiOwner = relation(owners.same, "Owner of the default wiki.")
    role: WikiRole = expression(owners.caller_role, "Maximum role of the credential.")
    actor_kind: WikiAuthorKind = expression(owners.actor_kind, "Kind of author in the history.")
    actor_id: str = expression(owners.actor_id, "Id of the author in the history.")
    actor_name: str = expression(owners.actor_name, "Display name in the history.")
    scopes: Connection[WikiOwner] = relation(owners.all_readable, "Wikis that the caller can read, by slug.")


@strawberry.type
class OwnerQueries:
    viewer: WikiViewer | None = source(owners.listed, "The caller and the wikis that it can read.")
    wiki_owners: Connection[WikiOwner] = source(
        owners.listed, "The wikis that the caller can read, by slug.", access=BY_ID
    )


api_keys = relations.api_keys


@strawberry.type(description="An API key of the tenant. The key itself is shown only once, by createApiKey.")
class WikiApiKey:
    id: strawberry.ID = column("Id of the key. It is not secret.")
    name: str = column("Purpose of the key. The history shows it as the author.")
    role: WikiRole = column("Maximum role of the key.")
    owners: list[WikiOwner] = relation(
        api_keys.owners_of, "Owners that the key acts for. The wiki of the first one is the default.", limit=100
    )
    actor: WikiAuthorKind = column("Kind of author that the history names.", name="actor_kind")
    state: WikiApiKeyState = expression(api_keys.state, "State of the key.")
    created_at: datetime = column("Time of creation.")
    expires_at: datetime | None = column("Time at which it expires. Null for never.")
    revoked_at: datetime | None = column("Time of revocation.")
    scopes: list[str] = column("Scopes that limit the role: wiki:read, wiki:write and wiki:admin. Empty for no limit.")
    networks: list[str] = column("Networks from which the key is accepted. Empty for all.")
    used_at: datetime | None = column("Time of the last use, to about a minute. Null if never used.")
    former_until: datetime | None = expression(
        api_keys.former_until, "Time until which the former secret is accepted. Null if there is none."
    )


@strawberry.type
class ApiKeyQueries:
    wiki_api_keys: Connection[WikiApiKey] = source(
        api_keys.listed,
        "The API keys of the tenant, oldest first, including expired and revoked ones. For admins.",
        access=OF_TENANT_AS_ADMIN,
    )


@strawberry.type(description="A program with access to a wiki by OAuth.")
class WikiConnectedProgram:
    id: strawberry.ID = column("Id of the authorization. It is not secret.")
    name: str = column("Name that the program gives itself.", name="client_name")
    redirect_uri: str = column("Redirect URI, the only verified property of the program.")
    role: WikiRole = column("Maximum role.")
    created_at: datetime = column("Time at which access was granted.")
    used_at: datetime | None = column("Time at which the program last got a token.")
    expires_at: datetime = column("Time at which the access expires.")


@strawberry.type
class ProgramQueries:
    @source(
        relations.programs.listed,
        "The programs with access to a wiki by OAuth, newest first. For its owner and admins of the tenant.",
    )
    def wiki_connected_programs(owner: OwnerName = None) -> Connection[WikiConnectedProgram]: ...
