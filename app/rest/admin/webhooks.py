"""The paths of webhooks at /api/admin, and of their deliveries."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from content.limits import SLUG
from resolvers.auth import owners
from resolvers.webhooks import webhooks
from resolvers.webhooks.webhooks import OVERLAP, OVERLAP_MAX, OWNERS_MAX, URL_MAX, DeliveryStatus
from schema.enums import WebhookDeliveryStatus, WikiPageType, WikiSensitivity

from ..endpoint import Call
from ..models import Listed, RequestModel, ResponseModel
from ..parameters import BODY_STATUSES, Caller, Limit, problem_responses, read_responses
from ..responses import answer, answer_write
from .paths import (
    OPERATOR_ACTOR,
    AdminRoute,
    AfterId,
    TenantName,
    answer_created,
    check_no_idempotency_key,
    find_tenant_id,
    list_body,
)

routes = APIRouter(route_class=AdminRoute, tags=["webhooks"])
OwnerNames = list[Annotated[str, Field(min_length=1, max_length=SLUG.maximum)]]
Change = Literal["evidence", "updated", "moved", "renamed", "archived", "restored", "created", "deleted", "resync"]
Event = Literal[
    "proposal.created", "proposal.accepted", "proposal.declined", "proposal.withdrawn", "proposal.expired"
]  # fmt: skip
Kinds = Annotated[
    list[Change | Event],
    Field(
        max_length=20,
        description="Kinds of events. Empty for all changes of pages; events of proposals must be listed.",
    ),
]
PageTypes = list[Annotated[WikiPageType, Field(strict=False)]]
Ceiling = Annotated[
    WikiSensitivity, Field(strict=False, description="Highest sensitivity of the pages whose events are sent.")
]


class NewWebhook(RequestModel):
    """Webhook to create. Without owners, kinds or types it receives all changes of pages."""

    url: Annotated[str, Field(min_length=1, max_length=URL_MAX, examples=["https://app.example.org/hooks/cairn"])]
    owners: Annotated[
        OwnerNames | None,
        Field(max_length=OWNERS_MAX, description="Slugs or ids of the owners whose events are sent. Empty for all."),
    ] = None
    kinds: Kinds | None = None
    types: Annotated[
        PageTypes | None, Field(max_length=20, description="Types of the pages whose events are sent. Empty for all.")
    ] = None
    ceiling: Ceiling = WikiSensitivity.INTERNAL


class WebhookUpdate(RequestModel):
    """Changes of a webhook. Omitted fields are unchanged; an empty list stands for all."""

    url: Annotated[str | None, Field(min_length=1, max_length=URL_MAX)] = None
    owners: Annotated[OwnerNames | None, Field(max_length=OWNERS_MAX)] = None
    kinds: Kinds | None = None
    types: Annotated[PageTypes | None, Field(max_length=20)] = None
    ceiling: Ceiling | None = None
    enabled: Annotated[bool | None, Field(description="False to stop queuing events, true to resume.")] = None


class SecretRotation(RequestModel):
    """Rotation of the secret of a webhook."""

    overlap_seconds: Annotated[
        int,
        Field(
            ge=0,
            le=int(OVERLAP_MAX.total_seconds()),
            description="Seconds for which deliveries are signed with both secrets.",
        ),
    ] = int(OVERLAP.total_seconds())


class Redelivery(RequestModel):
    """Deliveries to send again."""

    delivery_id: Annotated[
        UUID | None,
        Field(
            strict=False, description="Id of one delivery, even if it was delivered. Defaults to all dead deliveries."
        ),
    ] = None


class Webhook(ResponseModel):
    """Webhook without its secret. `owners` are slugs."""

    id: UUID
    url: str
    owners: list[str]
    kinds: list[Change | Event]
    types: list[WikiPageType]
    ceiling: WikiSensitivity
    state: Literal["active", "failing", "disabled"]
    created_at: datetime
    failing_since: datetime | None
    disabled_at: datetime | None
    disabled_reason: str | None
    former_until: Annotated[
        datetime | None, Field(description="Time until which deliveries are also signed with the former secret.")
    ]


class Webhooks(Listed):
    """Webhooks of a tenant, oldest first."""

    items: list[Webhook]


class IssuedWebhook(ResponseModel):
    """Signing secret of a webhook, shown only once. Deliveries are signed with the former one as well until
    `former_until`."""

    id: UUID
    secret: str
    former_until: datetime | None


class Delivery(ResponseModel):
    """Delivery of an event to a webhook. `id` is the header webhook-id of each attempt; `owner` is a slug."""

    id: UUID
    owner: str
    event: Annotated[str, Field(description="Type of the event.", examples=["proposal.accepted"])]
    kind: Annotated[Change, Field(description="Kind of the change. Events of proposals are created or updated.")]
    proposal_id: UUID | None
    page_id: UUID | None
    page_type: WikiPageType | None
    slug: str | None
    version: int | None
    happened_at: datetime
    status: WebhookDeliveryStatus
    attempts: int
    attempted_at: datetime | None
    finished_at: datetime | None
    response_status: int | None
    error: str | None


class Deliveries(Listed):
    """Deliveries of a webhook, newest first."""

    items: list[Delivery]


class Redelivered(ResponseModel):
    """The number of deliveries that are sent again."""

    redelivered: int


@routes.get(
    "/tenants/{tenant}/webhooks", operation_id="listWebhooks", response_model=Webhooks, responses=read_responses(404)
)
async def list_webhooks(call: Caller, tenant: TenantName, limit: Limit = 50, cursor: AfterId = None) -> Response:
    """List the webhooks of a tenant, oldest first, without their secrets."""
    tenant_id = await find_tenant_id(call, tenant)
    found = await webhooks.list_webhooks(call.endpoint.database, tenant_id, after=cursor, limit=limit + 1)
    return await answer(call, list_body(found, limit, webhook_to_dict, "id"))


@routes.post(
    "/tenants/{tenant}/webhooks",
    operation_id="createWebhook",
    status_code=201,
    response_model=IssuedWebhook,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def create_webhook(call: Caller, tenant: TenantName, body: NewWebhook) -> Response:
    """Create a webhook. Its secret is shown only once; if the response is lost, rotate the secret."""
    check_no_idempotency_key(call)
    tenant_id = await find_tenant_id(call, tenant)
    draft = webhooks.WebhookDraft(
        body.url,
        await owner_ids(call, tenant_id, body.owners or []),
        body.kinds or (),
        body.types or (),
        body.ceiling,
    )
    issued = await webhooks.create_webhook(call.endpoint.database, tenant_id, draft, by=OPERATOR_ACTOR)
    return await answer_created(call, secret_body(issued))


@routes.patch(
    "/tenants/{tenant}/webhooks/{id}",
    operation_id="updateWebhook",
    response_model=Webhook,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def update_webhook(call: Caller, tenant: TenantName, id: UUID, body: WebhookUpdate) -> Response:
    """Update a webhook. Applies to events from now on; pending deliveries go to a new URL as well."""
    check_no_idempotency_key(call)
    tenant_id = await find_tenant_id(call, tenant)
    named = None if body.owners is None else await owner_ids(call, tenant_id, body.owners)
    changes = webhooks.WebhookChanges(body.url, named, body.kinds, body.types, body.ceiling, body.enabled)
    found = await webhooks.update_webhook(call.endpoint.database, tenant_id, id, changes, by=OPERATOR_ACTOR)
    return await answer_write(call, orjson.dumps(webhook_to_dict(found)), 200)


@routes.delete(
    "/tenants/{tenant}/webhooks/{id}", operation_id="deleteWebhook", status_code=204, responses=problem_responses(404)
)
async def delete_webhook(call: Caller, tenant: TenantName, id: UUID) -> Response:
    """Delete a webhook and its pending deliveries."""
    await webhooks.delete_webhook(call.endpoint.database, await find_tenant_id(call, tenant), id, by=OPERATOR_ACTOR)
    return Response(status_code=204, headers={"Cache-Control": "no-store"})


@routes.post(
    "/tenants/{tenant}/webhooks/{id}/rotate",
    operation_id="rotateWebhookSecret",
    response_model=IssuedWebhook,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def rotate_secret(call: Caller, tenant: TenantName, id: UUID, body: SecretRotation) -> Response:
    """Replace the signing secret of a webhook and show the new one, only once."""
    check_no_idempotency_key(call)
    tenant_id, overlap = await find_tenant_id(call, tenant), timedelta(seconds=body.overlap_seconds)
    issued = await webhooks.rotate_webhook_secret(call.endpoint.database, tenant_id, id, overlap, by=OPERATOR_ACTOR)
    return await answer_write(call, orjson.dumps(secret_body(issued)), 200)


@routes.get(
    "/tenants/{tenant}/webhooks/{id}/deliveries",
    operation_id="listWebhookDeliveries",
    response_model=Deliveries,
    responses=read_responses(404),
)
async def list_deliveries(
    call: Caller,
    tenant: TenantName,
    id: UUID,
    status: Annotated[WebhookDeliveryStatus | None, Query(description="Only deliveries with this status.")] = None,
    limit: Limit = 50,
    cursor: AfterId = None,
) -> Response:
    """List the deliveries of a webhook, newest first."""
    tenant_id = await find_tenant_id(call, tenant)
    delivery_status = None if status is None else DeliveryStatus(status.value)
    found = await webhooks.list_deliveries(
        call.endpoint.database, tenant_id, id, status=delivery_status, before=cursor, limit=limit + 1
    )
    return await answer(call, list_body(found, limit, delivery_to_dict, "id"))


@routes.post(
    "/tenants/{tenant}/webhooks/{id}/redeliver",
    operation_id="redeliverWebhook",
    response_model=Redelivered,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def redeliver(call: Caller, tenant: TenantName, id: UUID, body: Redelivery) -> Response:
    """Redeliver one delivery, or all dead ones, 10,000 at most. Deliveries keep their ids."""
    check_no_idempotency_key(call)
    tenant_id = await find_tenant_id(call, tenant)
    number = await webhooks.redeliver(call.endpoint.database, tenant_id, id, body.delivery_id, by=OPERATOR_ACTOR)
    return await answer_write(call, orjson.dumps({"redelivered": number}), 200)


async def owner_ids(call: Call, tenant_id: UUID, names: list[str]) -> list[UUID]:
    """Return the ids of the owners with these slugs or ids. Raises NotFound."""
    return [owner.id for owner in await owners.find_owners(call.endpoint.database, tenant_id, names)] if names else []


def webhook_to_dict(webhook: webhooks.Webhook) -> dict[str, Any]:
    return asdict(webhook) | {"id": str(webhook.id), "state": webhook.state}


def delivery_to_dict(delivery: webhooks.Delivery) -> dict[str, Any]:
    fields = asdict(delivery)
    return fields | {name: fields[name] and str(fields[name]) for name in ("id", "page_id", "proposal_id")}


def secret_body(issued: webhooks.IssuedSecret) -> dict[str, Any]:
    return asdict(issued) | {"id": str(issued.id)}
