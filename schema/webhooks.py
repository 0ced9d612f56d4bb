"""Webhooks of the tenant, and their deliveries."""

from datetime import datetime

import strawberry

from db import relations
from db.access import OF_TENANT_AS_ADMIN

from .enums import WebhookDeliveryStatus, WebhookState, WikiChangeKind, WikiPageType, WikiSensitivity
from .fields import Connection, column, expression, relation, source
from .owners import WikiOwner

webhooks = relations.webhooks


@strawberry.type(description="Where changes of the tenant are sent. Its secret is shown once, by createWebhook.")
class Webhook:
    id: strawberry.ID = column("Of the webhook; it is no secret.")
    url: str = column("The address that they are sent to.")
    owners: list[WikiOwner] = relation(
        webhooks.owners_of, "Of whose wikis it is told, by slug; of all when there is none.", limit=100
    )
    kinds: list[str] = column(
        "The kinds that it is told of, like created or proposal.accepted; empty for all changes of pages."
    )
    types: list[str] = column("The types of pages that it is told of, like entity; empty for all.")
    ceiling: WikiSensitivity = column("It is told nothing of pages that are more sensitive.")
    state: WebhookState = expression(webhooks.state, "How it does.")
    created_at: datetime = column("When it was made.")
    failing_since: datetime | None = column("Since when it takes nothing; null when it took what it was sent last.")
    disabled_at: datetime | None = column("When it was disabled.")
    disabled_reason: str | None = column("Why it was disabled; null when somebody did it.")
    former_until: datetime | None = expression(
        webhooks.former_until, "Until when deliveries have a signature by the former secret as well."
    )


@strawberry.type(description="A change that is sent to a webhook, or was.")
class WebhookDelivery:
    id: strawberry.ID = column("The header webhook-id of each attempt.")
    owner: WikiOwner = relation(webhooks.owner, "In whose wiki it happened.")
    event: str = expression(webhooks.event, "What is sent, as its `type` says: page.created, or proposal.accepted.")
    kind: WikiChangeKind = expression(
        webhooks.kind, "What happened; a proposal is created, or updated by all that becomes of it."
    )
    proposal_id: strawberry.ID | None = column("To which proposal, where it is an event of one.")
    page_id: strawberry.ID | None = column("To which page; null for the whole wiki, and a page that is only proposed.")
    page_type: WikiPageType | None = column("The type of the page.")
    slug: str | None = column("The slug of the page then.")
    version: int | None = column("The version of the page then, where the change made one.")
    happened_at: datetime = column("When it happened.")
    status: WebhookDeliveryStatus = column("What became of it.")
    attempts: int = column("How often it was tried.")
    attempted_at: datetime | None = column("When it was tried last.")
    finished_at: datetime | None = column("When it arrived, or was given up.")
    response_status: int | None = column("The HTTP status of the last answer; null when there was none.")
    error: str | None = column("Why the last attempt failed.")


@strawberry.type
class WebhookQueries:
    webhooks: Connection[Webhook] = source(
        relations.webhooks.listed,
        "The webhooks of the tenant, the oldest first. For admins.",
        access=OF_TENANT_AS_ADMIN,
    )

    @source(
        relations.webhooks.deliveries,
        "The deliveries of a webhook, the newest first: what waits, what arrived in the last week, and what was given "
        "up in the last 30 days. For admins.",
        access=OF_TENANT_AS_ADMIN,
    )
    def webhook_deliveries(
        webhook_id: strawberry.ID, status: WebhookDeliveryStatus | None = None
    ) -> Connection[WebhookDelivery]: ...
