"""Webhooks of the tenant, and their deliveries."""

from datetime import datetime

import strawberry

from db import relations
from db.access import OF_TENANT_AS_ADMIN

from .enums import WebhookDeliveryStatus, WebhookState, WikiChangeKind, WikiPageType, WikiSensitivity
from .fields import Connection, column, expression, relation, source
from .owners import WikiOwner

webhooks = relations.webhooks


@strawberry.type(
    description="A webhook, to which events of the tenant are sent. Its secret is shown only once, by createWebhook."
)
class Webhook:
    id: strawberry.ID = column("Id of the webhook. It is not secret.")
    url: str = column("URL that events are sent to.")
    owners: list[WikiOwner] = relation(webhooks.owners_of, "Owners whose events are sent. Empty for all.", limit=100)
    kinds: list[str] = column(
        "Kinds of events that are sent, such as created or proposal.accepted. Empty for all changes of pages."
    )
    types: list[str] = column("Types of the pages whose events are sent, such as entity. Empty for all.")
    ceiling: WikiSensitivity = column("Highest sensitivity of the pages whose events are sent.")
    state: WebhookState = expression(webhooks.state, "State of the webhook.")
    created_at: datetime = column("Time of creation.")
    failing_since: datetime | None = column("Time since which deliveries fail. Null if the last one succeeded.")
    disabled_at: datetime | None = column("Time at which the webhook was disabled.")
    disabled_reason: str | None = column(
        "Reason why the webhook was disabled automatically. Null if a person disabled it."
    )
    former_until: datetime | None = expression(
        webhooks.former_until, "Time until which deliveries are also signed with the former secret."
    )


@strawberry.type(description="Delivery of an event to a webhook.")
class WebhookDelivery:
    id: strawberry.ID = column("Id of the delivery, which is the header webhook-id of each attempt.")
    owner: WikiOwner = relation(webhooks.owner, "Owner of the wiki.")
    event: str = expression(webhooks.event, "Type of the event, such as page.created or proposal.accepted.")
    kind: WikiChangeKind = expression(webhooks.kind, "Kind of the change. Events of proposals are created or updated.")
    proposal_id: strawberry.ID | None = column("Id of the proposal, for events of proposals.")
    page_id: strawberry.ID | None = column("Id of the page. Null for a whole wiki and for a proposed page.")
    page_type: WikiPageType | None = column("The type of the page.")
    slug: str | None = column("Slug of the page at that time.")
    version: int | None = column("Version of the page that the change created.")
    happened_at: datetime = column("Time of the event.")
    status: WebhookDeliveryStatus = column("Status of the delivery.")
    attempts: int = column("Number of attempts.")
    attempted_at: datetime | None = column("Time of the last attempt.")
    finished_at: datetime | None = column("Time at which it was delivered or given up.")
    response_status: int | None = column("HTTP status of the last response. Null if there was none.")
    error: str | None = column("Error of the last attempt.")


@strawberry.type
class WebhookQueries:
    webhooks: Connection[Webhook] = source(
        relations.webhooks.listed,
        "The webhooks of the tenant, oldest first. For admins.",
        access=OF_TENANT_AS_ADMIN,
    )

    @source(
        relations.webhooks.deliveries,
        (
            "The deliveries of a webhook, newest first: pending ones, those delivered in the last "
            "week, and those that failed in the last 30 days. For admins."
        ),
        access=OF_TENANT_AS_ADMIN,
    )
    def webhook_deliveries(
        webhook_id: strawberry.ID, status: WebhookDeliveryStatus | None = None
    ) -> Connection[WebhookDelivery]: ...
