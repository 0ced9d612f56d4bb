"""Webhooks that are made, changed and deleted, and deliveries that are sent again."""

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
    "Only these kinds of changes: evidence, updated, moved, renamed, archived, restored, created and deleted. Empty "
    "for all of them. Events of proposals have to be named: proposal.created, proposal.accepted, proposal.declined, "
    "proposal.withdrawn and proposal.expired."
)


@strawberry.input(description="A new webhook. Without owners, kinds or types it is told of all changes of pages.")
class CreateWebhookInput:
    url: str = strawberry.field(description="Where changes are sent to, like https://app.example.org/hooks/cairn.")
    owners: list[str] | None = strawberry.field(default=None, description="Only of these wikis, by slug or id.")
    kinds: list[str] | None = strawberry.field(default=None, description=KINDS)
    types: list[str] | None = strawberry.field(
        default=None, description="Only of pages of these types, like entity; what happens to a whole wiki comes too."
    )
    ceiling: WikiSensitivity = strawberry.field(
        default=WikiSensitivity.INTERNAL, description="Nothing of pages that are more sensitive."
    )


@strawberry.input(description="Changes of a webhook. What is left out stays as it is, and an empty list is for all.")
class UpdateWebhookInput:
    id: strawberry.ID = strawberry.field(description="The id of the webhook.")
    url: str | None = strawberry.field(default=None, description="What waits goes there, too.")
    owners: list[str] | None = strawberry.field(default=None, description="Only of these wikis, by slug or id.")
    kinds: list[str] | None = strawberry.field(default=None, description=KINDS)
    types: list[str] | None = strawberry.field(default=None, description="Only of pages of these types.")
    ceiling: WikiSensitivity | None = strawberry.field(
        default=None, description="Nothing of pages that are more sensitive."
    )
    enabled: bool | None = strawberry.field(
        default=None, description="False to queue nothing more for it, true to begin again; what waited is sent then."
    )


@strawberry.input(description="A webhook that is to be deleted.")
class DeleteWebhookInput:
    id: strawberry.ID = strawberry.field(description="The id of the webhook.")


@strawberry.input(description="A webhook that gets another secret.")
class RotateWebhookSecretInput:
    id: strawberry.ID = strawberry.field(description="The id of the webhook.")
    overlap_seconds: int = strawberry.field(
        default=int(webhooks.OVERLAP.total_seconds()),
        description="For how long deliveries are signed with both: a day, 0 for no longer, 90 days at most.",
    )


@strawberry.input(description="Deliveries that are to be sent again.")
class RedeliverWebhookInput:
    id: strawberry.ID = strawberry.field(description="The id of the webhook.")
    delivery_id: strawberry.ID | None = strawberry.field(
        default=None, description="This one, even if it has arrived; all that are dead when left out, 10,000 at most."
    )


@strawberry.type(description="A webhook after it was made or changed.")
class WebhookPayload:
    webhook_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    secret: str | None = strawberry.field(
        default=None,
        description="What deliveries are signed with, from createWebhook and rotateWebhookSecret alone and this once.",
    )
    deleted_id: strawberry.ID | None = strawberry.field(default=None, description="What was deleted.")
    redelivered: int = strawberry.field(default=0, description="How many deliveries are sent again.")
    webhook: Webhook | None = source(
        relations.webhooks.by_ids, "The webhook.", access=OF_TENANT_AS_ADMIN, step=private_id("webhook_id")
    )


async def owner_ids(info: Request, tenant_id: UUID, names: list[str] | None) -> list[UUID] | None:
    """Return the ids of owners that are named; None where nothing is said of them."""
    if not names:
        return None if names is None else []
    if len(names) > webhooks.OWNERS_MAX:
        raise BadInput(f"These are {len(names):,}; at most {webhooks.OWNERS_MAX} are possible.", "owners")
    return [owner.id for owner in await find_owners(info.context.database, tenant_id, names)]


@strawberry.type
class WebhookMutations:
    @strawberry.mutation(
        description="Make a webhook and show its secret, this once. An Idempotency-Key is refused, because the answer "
        "would be stored. For admins."
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

    @strawberry.mutation(description="Change a webhook, for what is written from now on. For admins.")
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

    @strawberry.mutation(description="Delete a webhook, and all that waits for it. For admins.")
    async def delete_webhook(self, info: Request, input: DeleteWebhookInput) -> WebhookPayload:
        scope, tenant_id = info.context.scope, require_admin(info.context.scope)
        await webhooks.delete_webhook(info.context.database, tenant_id, id_of(input.id), by=scope.actor)
        return WebhookPayload(deleted_id=input.id)

    @strawberry.mutation(
        description="Give a webhook another secret and show it, this once; deliveries are signed with the one before, "
        "too, for a while. An Idempotency-Key is refused. For admins."
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
        description="Send a delivery again, or all that are dead; they keep their ids. A disabled webhook is refused. "
        "For admins."
    )
    async def redeliver_webhook(self, info: Request, input: RedeliverWebhookInput) -> WebhookPayload:
        scope, tenant_id = info.context.scope, require_admin(info.context.scope)
        webhook_id, one = id_of(input.id), None if input.delivery_id is None else id_of(input.delivery_id)
        try:
            number = await webhooks.redeliver(info.context.database, tenant_id, webhook_id, one, by=scope.actor)
        except BadInput as error:
            return WebhookPayload(user_errors=[user_error(error)])
        return WebhookPayload(webhook_id=webhook_id, redelivered=number)
