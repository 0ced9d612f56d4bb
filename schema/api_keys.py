"""API keys, for the admins of a tenant. No field shows a key again."""

from datetime import datetime

import strawberry

from db import relations
from db.access import OF_TENANT_AS_ADMIN

from .connections import Connection
from .enums import WikiApiKeyState, WikiAuthorKind, WikiRole
from .fields import column, expression, relation, source
from .owners import WikiOwner

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


@strawberry.type
class ApiKeyQueries:
    wiki_api_keys: Connection[WikiApiKey] = source(
        api_keys.listed,
        "Every API key of the tenant, the oldest first; expired and revoked ones too. For admins.",
        access=OF_TENANT_AS_ADMIN,
    )
