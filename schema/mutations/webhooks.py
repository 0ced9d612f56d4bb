"""Mutations that create, change and delete webhooks, and that redeliver events."""

from datetime import timedelta
from uuid import UUID

import strawberry

from db import relations
from db.access import OF_TENANT_AS_ADMIN
from resolvers.auth.owners import find_owners
from resolvers.errors import BadInput
from resolvers.permissions import require_admin
from resolvers.webhooks import webhooks
from resolvers.webhooks.webhooks import WebhookChanges, WebhookDraft

from ..enums import WikiSensitivity
from ..fields import source
from ..webhooks import Webhook
from .payloads import UserError, private_id, user_error
from .scoping import Request, id_of

KINDS = (
    "Kinds of events to send: evidence, updated, moved, renamed, archived, restored, created and "
    "deleted. Empty for all of these. Events of proposals must be listed: proposal.created, "
    "proposal.accepted, proposal.declined, proposal.withdrawn and proposal.expired."
)


@strawberry.input(description="Webhook to create. Without owners, kinds or types it receives all changes of pages.")
class CreateWebhookInput:
    url: str = strawberry.field(description="URL that events are sent to, such as https://app.example.org/hooks/cairn.")
    owners: list[str] | None = strawberry.field(
        default=None, description="Slugs or ids of the owners whose events are sent. Empty for all."
    )
    kinds: list[str] | None = strawberry.field(default=None, description=KINDS)
    types: list[str] | None = strawberry.field(
        default=None,
        description="Types of the pages whose events are sent, such as entity. Events of whole wikis are always sent.",
    )
    ceiling: WikiSensitivity = strawberry.field(
        default=WikiSensitivity.INTERNAL, description="Highest sensitivity of the pages whose events are sent."
    )


@strawberry.input(description="Changes of a webhook. Omitted fields are unchanged; an empty list stands for all.")
class UpdateWebhookInput:
    id: strawberry.ID = strawberry.field(description="The id of the webhook.")
    url: str | None = strawberry.field(default=None, description="New URL. Pending deliveries are sent to it as well.")
    owners: list[str] | None = strawberry.field(
        default=None, description="Slugs or ids of the owners whose events are sent. Empty for all."
    )
    kinds: list[str] | None = strawberry.field(default=None, description=KINDS)
    types: list[str] | None = strawberry.field(
        default=None, description="Types of the pages whose events are sent. Empty for all."
    )
    ceiling: WikiSensitivity | None = strawberry.field(
        default=None, description="Highest sensitivity of the pages whose events are sent."
    )
    enabled: bool | None = strawberry.field(
        default=None, description="False to stop queuing events, true to resume. Pending deliveries are sent then."
    )


@strawberry.input(description="Webhook to delete.")
class DeleteWebhookInput:
    id: strawberry.ID = strawberry.field(description="The id of the webhook.")


@strawberry.input(description="Webhook whose secret to replace.")
class RotateWebhookSecretInput:
    id: strawberry.ID = strawberry.field(description="The id of the webhook.")
    overlap_seconds: int = strawberry.field(
        default=int(webhooks.OVERLAP.total_seconds()),
        description=(
            "Seconds for which deliveries are signed with both secrets. Defaults to a day; 0 for none, 90 days at most."
        ),
    )


@strawberry.input(description="Deliveries to send again.")
class RedeliverWebhookInput:
    id: strawberry.ID = strawberry.field(description="The id of the webhook.")
    delivery_id: strawberry.ID | None = strawberry.field(
        default=None,
        description="Id of one delivery, even if it was delivered. Defaults to all dead deliveries, 10,000 at most.",
    )


@strawberry.type(description="Payload with the webhook.")
class WebhookPayload:
    webhook_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    secret: str | None = strawberry.field(
        default=None,
        description="Signing secret. Only createWebhook and rotateWebhookSecret return it, once.",
    )
    deleted_id: strawberry.ID | None = strawberry.field(default=None, description="Id of the deleted webhook.")
    redelivered: int = strawberry.field(default=0, description="Number of deliveries that are sent again.")
    webhook: Webhook | None = source(
        relations.webhooks.by_ids, "The webhook.", access=OF_TENANT_AS_ADMIN, step=private_id("webhook_id")
    )


async def owner_ids(info: Request, tenant_id: UUID, names: list[str] | None) -> list[UUID] | None:
    """Return the ids of the named owners; None if the input does not have any list of owners."""
    if not names:
        return None if names is None else []
    if len(names) > webhooks.OWNERS_MAX:
        raise BadInput(f"These are {len(names):,}; at most {webhooks.OWNERS_MAX} are possible.", "owners")
    return [owner.id for owner in await find_owners(info.context.database, tenant_id, names)]


@strawberry.type
class WebhookMutations:
    @strawberry.mutation(
        description=(
            "Create a webhook. Its secret is shown only once, so that an Idempotency-Key is refused. For admins."
        )
    )
    async def create_webhook(self, info: Request, input: CreateWebhookInput) -> WebhookPayload:
        scope, tenant_id = info.context.scope, require_admin(info.context.scope)
        try:
            draft = WebhookDraft(
                input.url,
                await owner_ids(info, tenant_id, input.owners) or (),
                input.kinds or (),
                input.types or (),
                WikiSensitivity(input.ceiling).value,
            )
            issued = await webhooks.create_webhook(info.context.database, tenant_id, draft, by=scope.actor)
        except BadInput as error:
            return WebhookPayload(user_errors=[user_error(error)])
        return WebhookPayload(webhook_id=issued.id, secret=issued.secret)

    @strawberry.mutation(description="Update a webhook. Applies to events from now on. For admins.")
    async def update_webhook(self, info: Request, input: UpdateWebhookInput) -> WebhookPayload:
        scope, tenant_id = info.context.scope, require_admin(info.context.scope)
        webhook_id = id_of(input.id)
        try:
            changes = WebhookChanges(
                input.url,
                await owner_ids(info, tenant_id, input.owners),
                input.kinds,
                input.types,
                None if input.ceiling is None else WikiSensitivity(input.ceiling).value,
                input.enabled,
            )
            await webhooks.update_webhook(info.context.database, tenant_id, webhook_id, changes, by=scope.actor)
        except BadInput as error:
            return WebhookPayload(user_errors=[user_error(error)])
        return WebhookPayload(webhook_id=webhook_id)

    @strawberry.mutation(description="Delete a webhook and its pending deliveries. For admins.")
    async def delete_webhook(self, info: Request, input: DeleteWebhookInput) -> WebhookPayload:
        scope, tenant_id = info.context.scope, require_admin(info.context.scope)
        await webhooks.delete_webhook(info.context.database, tenant_id, id_of(input.id), by=scope.actor)
        return WebhookPayload(deleted_id=input.id)

    @strawberry.mutation(
        description=(
            "Replace the signing secret of a webhook and show the new one, only once. Deliveries are "
            "signed with both until the overlap ends. An Idempotency-Key is refused. For admins."
        )
    )
    async def rotate_webhook_secret(self, info: Request, input: RotateWebhookSecretInput) -> WebhookPayload:
        scope, tenant_id = info.context.scope, require_admin(info.context.scope)
        webhook_id, overlap = id_of(input.id), timedelta(seconds=input.overlap_seconds)
        try:
            issued = await webhooks.rotate_webhook_secret(
                info.context.database, tenant_id, webhook_id, overlap, by=scope.actor
            )
        except BadInput as error:
            return WebhookPayload(user_errors=[user_error(error)])
        return WebhookPayload(webhook_id=webhook_id, secret=issued.secret)

    @strawberry.mutation(
        description=(
            "Redeliver one delivery, or all dead ones, with the same ids. Disabled webhooks are refused. For admins."
        )
    )
    async def redeliver_webhook(self, info: Request, input: RedeliverWebhookInput) -> WebhookPayload:
        scope, tenant_id = info.context.scope, require_admin(info.context.scope)
        webhook_id, delivery_id = id_of(input.id), None if input.delivery_id is None else id_of(input.delivery_id)
        try:
            number = await webhooks.redeliver(info.context.database, tenant_id, webhook_id, delivery_id, by=scope.actor)
        except BadInput as error:
            return WebhookPayload(user_errors=[user_error(error)])
        return WebhookPayload(webhook_id=webhook_id, redelivered=number)
