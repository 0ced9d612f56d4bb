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


@strawberry.type(description="A customer: nothing is ever shared across tenants.")
class WikiTenant:
    id: strawberry.ID = column("Of the tenant.", name="tenant_id")
    slug: str = column("Its name in commands.")
    name: str = column("Its name for people.")


@strawberry.type(description="A rule of a write policy. One for a type of pages goes before that for all types.")
class WikiWriteRule:
    role: WikiWriterRole = column("Whose writes.")
    page_type: WikiPageType | None = column("Of which pages; null for all.")
    policy: WikiWritePolicy = column("What becomes of them.")


@strawberry.type(description="Whose wiki it is: an agent, a user, or a shared space.")
class WikiOwner(Node):
    kind: WikiOwnerKind = column("Agent, user or shared space.")
    slug: str = column("Its name in commands, unique in the tenant.")
    name: str = column("Its name for people.")
    language: str = column("What its pages are written in, unless they say otherwise; search stems words by it.")
    score_boost: float = column(
        "By what the scores of its pages are multiplied beside those of evidence: 0 to 10, 0.9 by default."
    )
    min_sources_for_synthesis: int = column(
        "How many sources a page has to cite before a model writes its text; with fewer, its sections quote them."
    )
    write_policy: list[WikiWriteRule] = whole(
        owners.write_rules, "The rules by which writes become proposals or are refused; all others are written."
    )
    stale_after_days: int = column("After how many days without a change lint calls a page stale: 90 by default.")
    oversize_characters: int = column("From how many characters on lint calls a page too long: 20,000 by default.")
    lint_min_pages: int = column("On how many pages a name has to stand for lint to ask for its page: 3 by default.")
    lint_every_days: int = column("After how many days a worker lints the wiki again: 7 by default, 0 for never.")
    lint_after_sources: int = column(
        "After how many new sources a worker lints the wiki once they are compiled: 5 by default, 0 for never."
    )
    reader_ceiling: WikiSensitivity = column("The most sensitive that readers see here: INTERNAL by default.")
    member_ceiling: WikiSensitivity = column(
        "The most sensitive that members by grant see here: CONFIDENTIAL by default. Its own members see all."
    )
    decision_threshold: WikiSignificance = column(
        "The least significance of a decision that gets a page; others are logged alone. MEDIUM by default."
    )
    requires_sensitivity: bool = column("Whether lint asks for a sensitivity of every page: false by default.")
    created_at: datetime = column("When it was made.")
    role: WikiRole | None = expression(owners.role, "What the caller is in this wiki.")


@strawberry.type(description="The caller, as its credential says.")
class WikiViewer:
    tenant: WikiTenant = relation(owners.tenant, "The tenant of the credential.")
    owner: WikiOwner = relation(owners.same, "The wiki it works in when no other is named.")
    role: WikiRole = expression(owners.caller_role, "What the credential may do at most.")
    actor_kind: WikiAuthorKind = expression(owners.actor_kind, "As what it writes into history.")
    actor_id: str = expression(owners.actor_id, "As whom it writes into history.")
    actor_name: str = expression(owners.actor_name, "The display name under which history shows it.")
    scopes: Connection[WikiOwner] = relation(owners.all_readable, "Every wiki that it may read, by slug.")


@strawberry.type
class OwnerQueries:
    viewer: WikiViewer | None = source(owners.listed, "Who am I, and where may I read?")
    wiki_owners: Connection[WikiOwner] = source(
        owners.listed, "Every wiki that the caller may read, by slug.", access=BY_ID
    )


api_keys = relations.api_keys


@strawberry.type(description="An API key of the tenant, without the key itself: that is shown once, by createApiKey.")
class WikiApiKey:
    id: strawberry.ID = column("Of the key; it is no secret.")
    name: str = column("What the key is for; history shows it as the author.")
    role: WikiRole = column("What the key may do at most.")
    owners: list[WikiOwner] = relation(
        api_keys.owners_of, "The owners that it speaks for; the first is whose wiki it works in.", limit=100
    )
    actor: WikiAuthorKind = column("The kind of author that history names for its writes.", name="actor_kind")
    state: WikiApiKeyState = expression(api_keys.state, "Whether it is accepted.")
    created_at: datetime = column("When it was made.")
    expires_at: datetime | None = column("When it ends by itself; null for never.")
    revoked_at: datetime | None = column("When it was revoked.")
    scopes: list[str] = column("Of wiki:read, wiki:write and wiki:admin: less than its role; empty for all of that.")
    networks: list[str] = column("The networks from which it is accepted; empty for all.")
    used_at: datetime | None = column("When it was last used, to about a minute; null for never.")
    former_until: datetime | None = expression(
        api_keys.former_until, "Until when its former secret is accepted as well; null when there is none."
    )


@strawberry.type
class ApiKeyQueries:
    wiki_api_keys: Connection[WikiApiKey] = source(
        api_keys.listed,
        "Every API key of the tenant, the oldest first; expired and revoked ones too. For admins.",
        access=OF_TENANT_AS_ADMIN,
    )


@strawberry.type(description="A program that somebody has let into a wiki by OAuth.")
class WikiConnectedProgram:
    id: strawberry.ID = column("Of what was allowed; it is no secret.")
    name: str = column("As the program calls itself.", name="client_name")
    redirect_uri: str = column("Where its people were sent back to: the only thing of it that was verified.")
    role: WikiRole = column("What it may do at most.")
    created_at: datetime = column("When it was let in.")
    used_at: datetime | None = column("When it last got a token.")
    expires_at: datetime = column("When it has to ask again.")


@strawberry.type
class ProgramQueries:
    @source(
        relations.programs.listed,
        "The programs that may use a wiki by OAuth, the newest first; for its owner and admins of the tenant.",
    )
    def wiki_connected_programs(owner: OwnerName = None) -> Connection[WikiConnectedProgram]: ...
