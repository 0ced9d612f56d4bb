"""`cairn webhooks`: manage the webhooks of a tenant and their deliveries."""

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from ...options import AsJson, Tenant, duration, read_settings
from ...output import print_json, print_status, print_table, say

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.webhooks.webhooks import Delivery, IssuedSecret, Webhook

app = typer.Typer(help="Manage webhooks.", no_args_is_help=True)


class Status(StrEnum):
    """The states of a delivery, repeated here because the module of webhooks imports all of db."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


class Ceiling(StrEnum):
    """The levels of sensitivity."""

    PUBLIC = "public"
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    SECRET = "secret"  # noqa: S105  a level


WebhookId = Annotated[UUID, typer.Argument(metavar="ID", help="Id shown by `cairn webhooks list`.")]
Owners = Annotated[
    list[str] | None,
    typer.Option("--owner", metavar="SLUG", help="Only events of the wiki of this owner. Can be repeated."),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help=(
            "Only events of this kind, such as created or proposal.accepted. Can be repeated. "
            "Defaults to all changes of pages."
        ),
    ),
]
Types = Annotated[
    list[str] | None, typer.Option("--type", metavar="TYPE", help="Only events of pages of this type. Can be repeated.")
]


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="webhooks", epilog="Example: cairn webhooks create --help")


@app.command("create", epilog="Example: cairn webhooks create https://app.example.org/hooks --tenant acme")
def create(
    url: Annotated[str, typer.Argument(metavar="URL", help="URL that events are sent to.")],
    tenant: Tenant,
    owner: Owners = None,
    kind: Kinds = None,
    type: Types = None,
    ceiling: Annotated[
        Ceiling, typer.Option("--ceiling", help="Highest sensitivity of the pages whose events are sent.")
    ] = Ceiling.INTERNAL,
    as_json: AsJson = False,
) -> None:
    """Create a webhook and print its signing secret. It cannot be shown again."""
    from resolvers.auth.owners import find_owners
    from resolvers.tenants.tenants import find_tenant
    from resolvers.webhooks.webhooks import WebhookDraft, create_webhook

    from ...session import run_in_session

    async def work(database: "Database") -> "IssuedSecret":
        tenant_id = (await find_tenant(database, tenant)).id
        owner_ids = [found.id for found in await find_owners(database, tenant_id, owner)] if owner else []
        draft = WebhookDraft(url, owner_ids, kind or (), type or (), ceiling.value)
        return await create_webhook(database, tenant_id, draft)

    issued = run_in_session(work)
    if as_json:
        print_json({"id": issued.id, "secret": issued.secret})
    else:
        say(issued.secret)
        print_status(
            "Save the secret now: it is not shown again. To send a test event: cairn webhooks test "
            f"{issued.id} --tenant {tenant}"
        )


@app.command("list", epilog="Example: cairn webhooks list --tenant acme --json")
def list_all(tenant: Tenant, as_json: AsJson = False) -> None:
    """List the webhooks of a tenant, oldest first. Secrets are not shown."""
    from resolvers.tenants.tenants import find_tenant
    from resolvers.webhooks.webhooks import list_webhooks

    from ...session import run_in_session

    async def work(database: "Database") -> "list[Webhook]":
        return await list_webhooks(database, (await find_tenant(database, tenant)).id)

    found = run_in_session(work)
    if as_json:
        print_json([webhook_to_dict(webhook) for webhook in found])
    else:
        rows = [
            (webhook.url, webhook.state,
             *(" ".join(filters) or "all" for filters in (webhook.owners, webhook.kinds, webhook.types)),
             webhook.ceiling, webhook.id)
            for webhook in found
        ]  # fmt: skip
        print_table(["url", "state", "owners", "kinds", "types", "ceiling", "id"], rows)


@app.command("update", epilog="Example: cairn webhooks update 0199f0c2-… --tenant acme --enable")
def update(
    webhook_id: WebhookId,
    tenant: Tenant,
    url: Annotated[str | None, typer.Option(metavar="URL", help="URL that events are sent to.")] = None,
    enable: Annotated[bool | None, typer.Option("--enable/--disable", help="Resume or stop queuing events.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change the URL of a webhook, or disable or enable it."""
    from resolvers.errors import BadInput
    from resolvers.tenants.tenants import find_tenant
    from resolvers.webhooks.webhooks import WebhookChanges, update_webhook

    from ...session import run_in_session

    if url is None and enable is None:
        raise BadInput("Give --url, --enable or --disable.", "url")

    async def work(database: "Database") -> "Webhook":
        tenant_id = (await find_tenant(database, tenant)).id
        return await update_webhook(database, tenant_id, webhook_id, WebhookChanges(url, enabled=enable))

    found = run_in_session(work)
    if as_json:
        print_json(webhook_to_dict(found))
    else:
        say(f"{found.url} is {found.state}.")


@app.command("delete", epilog="Example: cairn webhooks delete 0199f0c2-… --tenant acme")
def delete(webhook_id: WebhookId, tenant: Tenant, as_json: AsJson = False) -> None:
    """Delete a webhook and its pending deliveries."""
    from resolvers.tenants.tenants import find_tenant
    from resolvers.webhooks.webhooks import delete_webhook

    from ...session import run_in_session

    async def work(database: "Database") -> None:
        await delete_webhook(database, (await find_tenant(database, tenant)).id, webhook_id)

    run_in_session(work)
    if as_json:
        print_json({"id": webhook_id, "deleted": True})
    else:
        say(f"Deleted the webhook {webhook_id}.")


@app.command("rotate", epilog="Example: cairn webhooks rotate 0199f0c2-… --tenant acme --overlap 2d")
def rotate(
    webhook_id: WebhookId,
    tenant: Tenant,
    overlap: Annotated[
        int,
        typer.Option(parser=duration, metavar="TIME", help="Time for which deliveries are signed with both secrets."),
    ] = "24h",  # type: ignore[assignment]  # a default is parsed like what is typed
    as_json: AsJson = False,
) -> None:
    """Replace the signing secret of a webhook and print the new one. Deliveries are signed with both until the
    overlap ends."""
    from resolvers.tenants.tenants import find_tenant
    from resolvers.webhooks.webhooks import rotate_webhook_secret

    from ...session import run_in_session

    async def work(database: "Database") -> "IssuedSecret":
        tenant_id = (await find_tenant(database, tenant)).id
        return await rotate_webhook_secret(database, tenant_id, webhook_id, timedelta(seconds=overlap))

    issued = run_in_session(work)
    if as_json:
        print_json({"id": issued.id, "secret": issued.secret, "formerUntil": issued.former_until})
    else:
        say(issued.secret)
        print_status(f"The previous secret also signs deliveries until {issued.former_until:%Y-%m-%d %H:%M} UTC.")


@app.command("deliveries", epilog="Example: cairn webhooks deliveries 0199f0c2-… --tenant acme --status dead")
def deliveries(
    webhook_id: WebhookId,
    tenant: Tenant,
    status: Annotated[Status | None, typer.Option("--status", help="Only deliveries with this status.")] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="Maximum number of entries, counted from the newest.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List the deliveries of a webhook, newest first. Shows the error of the last attempt."""
    from resolvers.tenants.tenants import find_tenant
    from resolvers.webhooks.webhooks import DeliveryStatus, list_deliveries

    from ...session import run_in_session

    async def work(database: "Database") -> "list[Delivery]":
        tenant_id = (await find_tenant(database, tenant)).id
        chosen = DeliveryStatus(status) if status else None
        return await list_deliveries(database, tenant_id, webhook_id, status=chosen, limit=limit)

    found = run_in_session(work)
    if as_json:
        print_json([delivery_to_dict(delivery) for delivery in found])
    else:
        rows = [
            (f"{delivery.happened_at:%Y-%m-%d %H:%M:%S}", delivery.owner, delivery.event, delivery.slug or "",
             delivery.status.value, str(delivery.attempts), delivery.error or "", delivery.id)
            for delivery in found
        ]  # fmt: skip
        print_table(["happened", "owner", "event", "page", "status", "attempts", "error", "id"], rows)


@app.command("redeliver", epilog="Example: cairn webhooks redeliver 0199f0c2-… --tenant acme")
def redeliver(
    webhook_id: WebhookId,
    tenant: Tenant,
    delivery: Annotated[
        UUID | None,
        typer.Option("--delivery", metavar="ID", help="Id of one delivery. It is sent again even if it was delivered."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Redeliver dead deliveries, 10,000 at most, or one delivery. Deliveries keep their ids."""
    from resolvers.tenants.tenants import find_tenant
    from resolvers.webhooks.webhooks import redeliver as send_again

    from ...session import run_in_session

    async def work(database: "Database") -> int:
        return await send_again(database, (await find_tenant(database, tenant)).id, webhook_id, delivery)

    number = run_in_session(work)
    if as_json:
        print_json({"id": webhook_id, "redelivered": number})
    else:
        say(f"Queued {number:,} {'delivery' if number == 1 else 'deliveries'} to be sent again.")


@app.command("test", epilog="Example: cairn webhooks test 0199f0c2-… --tenant acme")
def send_test_event(webhook_id: WebhookId, tenant: Tenant, as_json: AsJson = False) -> None:
    """Send a signed test event and show the response. This machine sends the event `webhook.test`."""
    from resolvers.errors import Unavailable
    from resolvers.tenants.tenants import find_tenant
    from resolvers.webhooks.posting import NotSent, WebhookClient
    from resolvers.webhooks.sending import send_test

    from ...session import run_in_session

    client = WebhookClient(read_settings().webhook_networks)

    async def work(database: "Database") -> int:
        return await send_test(database, (await find_tenant(database, tenant)).id, webhook_id, client)

    try:
        status = run_in_session(work)
    except NotSent as error:
        raise Unavailable(f"The test event was not delivered: {error.reason}.") from None
    if as_json:
        print_json({"id": webhook_id, "responseStatus": status})
    else:
        say(f"The receiver answered {status}.")


def webhook_to_dict(webhook: "Webhook") -> dict[str, Any]:
    return {
        "id": webhook.id,
        "url": webhook.url,
        "state": webhook.state,
        "owners": webhook.owners,
        "kinds": webhook.kinds,
        "types": webhook.types,
        "ceiling": webhook.ceiling,
        "createdAt": webhook.created_at,
        "failingSince": webhook.failing_since,
        "disabledAt": webhook.disabled_at,
        "disabledReason": webhook.disabled_reason,
        "formerUntil": webhook.former_until,
    }


def delivery_to_dict(delivery: "Delivery") -> dict[str, Any]:
    return {
        "id": delivery.id,
        "owner": delivery.owner,
        "event": delivery.event,
        "kind": delivery.kind,
        "proposalId": delivery.proposal_id,
        "pageId": delivery.page_id,
        "pageType": delivery.page_type,
        "slug": delivery.slug,
        "version": delivery.version,
        "happenedAt": delivery.happened_at,
        "status": delivery.status,
        "attempts": delivery.attempts,
        "attemptedAt": delivery.attempted_at,
        "finishedAt": delivery.finished_at,
        "responseStatus": delivery.response_status,
        "error": delivery.error,
    }
