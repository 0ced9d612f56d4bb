"""The paths of the change feed, for clients that keep a copy of the wiki, and of the tenant's audit log."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import Response

from ...moments import Moment
from .. import responses
from ..endpoint import WikiRoute
from ..models import Listed, PageItem, ResponseModel
from ..operations import read
from ..parameters import Caller, Cursor, Limit, read_responses
from ..responses import answer


class Change(ResponseModel):
    """Last change of a page. `page` is its current state, even if archived."""

    position: int
    page_id: UUID
    state: Literal["active", "archived", "deleted"]
    changed_at: datetime
    page: PageItem | None


class Changes(Listed):
    """List of changes. `resume` is the `cursor` for requesting later changes."""

    items: list[Change]
    resume: str | None


routes = APIRouter(route_class=WikiRoute, tags=["changes"])


@routes.get("/changes", operation_id="listChanges", response_model=Changes, responses=read_responses(410))
async def list_changes(call: Caller, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List all pages by their last change. Pass `resume` of an earlier response as `cursor` to list the changes since
    then.

    The error `CURSOR_EXPIRED` (410) means that a backup was restored: start again without a cursor.
    """
    found = (await read(call, "changes", "RestChanges", first=limit, after=cursor))["found"]
    items = [responses.change(node) for node in found["nodes"]]
    return await answer(call, responses.list_body(found, items, resume=found["pageInfo"]["endCursor"] or cursor))


class AuditEvent(ResponseModel):
    """Event of the audit log. `times` counts refusals of the same kind within a minute."""

    id: UUID
    at: datetime
    action: str
    outcome: Literal["done", "refused"]
    actor_kind: Literal["agent", "user", "compiler", "service"] | None
    actor_id: str | None
    subject: str | None
    address: str | None
    request_id: str | None
    detail: dict[str, Any]
    times: int


class AuditEvents(Listed):
    items: list[AuditEvent]


ActionName = Annotated[
    str | None, Query(max_length=100, description="Name of an action, or of a group of actions such as `api_key`.")
]
ActorName = Annotated[str | None, Query(max_length=200, description="Id of the actor.")]
Since = Annotated[Moment | None, Query(description="Only events at or after this time, such as 2026-11-20T10:00:00Z.")]


@routes.get("/audit-events", operation_id="listAuditEvents", response_model=AuditEvents, responses=read_responses())
async def list_audit_events(
    call: Caller,
    action: ActionName = None,
    outcome: Literal["done", "refused"] | None = None,
    actor: ActorName = None,
    since: Since = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the audit log of the tenant, newest first. For admins."""
    variables: dict[str, Any] = {"action": action, "actor": actor, "since": since and since.isoformat()}
    paging: dict[str, Any] = {"first": limit, "after": cursor, "outcome": outcome and outcome.upper()}
    found = (await read(call, "audit", "RestAudit", **variables, **paging))["found"]
    enums = {"outcome", "actor_kind"}
    items = [node | {name: node[name] and node[name].lower() for name in enums} for node in found["nodes"]]
    return await answer(call, responses.list_body(found, items))
