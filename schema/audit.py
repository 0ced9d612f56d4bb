"""The audit log of the tenant."""

from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from db import relations
from db.access import OF_TENANT_AS_ADMIN

from .enums import AuditOutcome, WikiAuthorKind
from .fields import Connection, column, source


@strawberry.type(description="An event of security. It is kept as it was written, and nothing changes it.")
class AuditEvent:
    id: strawberry.ID = column("Of the event.")
    at: datetime = column("When it happened; of refusals that were counted, when they were stored.")
    action: str = column("What happened, like api_key.created.")
    outcome: AuditOutcome = column("Whether it was done.")
    actor_kind: WikiAuthorKind | None = column("Who did it; null for refused credentials.")
    actor_id: str | None = column("Who did it, as the credential says; null for refused credentials.")
    subject: str | None = column("The id of what it was done to.")
    address: str | None = column("The network address that it came from.")
    request_id: str | None = column("The X-Request-Id of the request.")
    detail: JSON = column("What else is known of it. It never holds a secret.")
    times: int = column("How often it happened: refusals are counted for a minute.")


@strawberry.type
class AuditQueries:
    @source(
        relations.audit.listed,
        "The audit log of the tenant, the newest first. For admins.",
        access=OF_TENANT_AS_ADMIN,
    )
    def audit_events(
        action: str | None = None,
        outcome: AuditOutcome | None = None,
        actor_id: str | None = None,
        since: datetime | None = None,
    ) -> Connection[AuditEvent]: ...
