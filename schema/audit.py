"""The audit log of the tenant."""

from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from db import relations
from db.access import OF_TENANT_AS_ADMIN

from .enums import AuditOutcome, WikiAuthorKind
from .fields import Connection, column, source


@strawberry.type(description="Event of the audit log. Events are never changed.")
class AuditEvent:
    id: strawberry.ID = column("Id of the event.")
    at: datetime = column("Time of the event. Counted refusals have the time at which they were stored.")
    action: str = column("Name of the action, such as api_key.created.")
    outcome: AuditOutcome = column("Whether the action was done or refused.")
    actor_kind: WikiAuthorKind | None = column("Kind of the actor. Null for refused credentials.")
    actor_id: str | None = column("Id of the actor, as the credential names it. Null for refused credentials.")
    subject: str | None = column("Id of the object of the action.")
    address: str | None = column("Network address of the client.")
    request_id: str | None = column("The X-Request-Id of the request.")
    detail: JSON = column("Details of the event. They never contain a secret.")
    times: int = column("Number of occurrences. Refusals within the same minute are counted together.")


@strawberry.type
class AuditQueries:
    @source(
        relations.audit.listed,
        "The audit log of the tenant, newest first. For admins.",
        access=OF_TENANT_AS_ADMIN,
    )
    def audit_events(
        action: str | None = None,
        outcome: AuditOutcome | None = None,
        actor_id: str | None = None,
        since: datetime | None = None,
    ) -> Connection[AuditEvent]: ...
