"""Webhooks and their deliveries, for admins, without the secrets."""

from typing import Any

from sqlalchemy import ColumnElement, Select, any_, case, func, select

from selection.declare.mapping import OuterRow

from ...tables import owners, webhook_deliveries, webhooks
from ..references import foreign_row, rows_by_id

by_ids = rows_by_id(webhooks)
owner = foreign_row(owners, "owner_id")


def listed() -> Select[Any]:
    """Select the webhooks, the oldest first, because ids grow with time."""
    webhook = webhooks.alias()
    return select(webhook).order_by(webhook.c.id)


def owners_of(webhook: OuterRow) -> Select[Any]:
    """Select the owners whose wikis a webhook is notified of, by slug."""
    owner = owners.alias()
    return select(owner).where(owner.c.id == any_(webhook.c.owner_ids)).order_by(owner.c.slug, owner.c.id)


def state(webhook: OuterRow) -> ColumnElement[Any]:
    """Return the state of a webhook, like resolvers.webhooks.webhooks.Webhook.state."""
    return case(
        (webhook.c.disabled_at.is_not(None), "disabled"),
        (webhook.c.failing_since.is_not(None), "failing"),
        else_="active",
    )


def former_until(webhook: OuterRow) -> ColumnElement[Any]:
    """Return the time until which the former secret signs deliveries, too, or null if it does not any more."""
    return case((webhook.c.former_until > func.now(), webhook.c.former_until), else_=None)


def event(delivery: OuterRow) -> ColumnElement[Any]:
    """Return the name of the event of a delivery, like resolvers.webhooks.webhooks.event_of."""
    of_change = func.concat(case((delivery.c.page_id.is_(None), "wiki."), else_="page."), delivery.c.kind)
    return case((delivery.c.proposal_id.is_not(None), delivery.c.kind), else_=of_change)


def kind(delivery: OuterRow) -> ColumnElement[Any]:
    """Return the kind of the change. For a proposal it is `created`, or `updated` for every later event."""
    of_proposal = case((delivery.c.kind == "proposal.created", "created"), else_="updated")
    return case((delivery.c.proposal_id.is_not(None), of_proposal), else_=delivery.c.kind)


def deliveries(webhook_id: Any, status: Any = None) -> Select[Any]:
    """Select the deliveries of a webhook, the newest first."""
    delivery = webhook_deliveries.alias()
    query = select(delivery).where(delivery.c.webhook_id == webhook_id).order_by(delivery.c.id.desc())
    return query if status is None else query.where(delivery.c.status == status)
