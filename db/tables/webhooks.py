"""Tables of webhooks, their queues, and their deliveries."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    Table,
    Uuid,
    text,
)

from .columns import identifier, listed, metadata, number, one_of, scoped_table, timestamp, words

webhooks = Table(
    "webhooks",
    metadata,
    identifier("tenant_id"),
    identifier("id"),
    words("url"),
    words("secret"),
    words("former_secret", nullable=True),
    timestamp("former_until", nullable=True),
    Column(
        "owner_ids", ARRAY(Uuid), nullable=False, server_default=text("'{}'"), comment="of which wikis; empty for all"
    ),
    listed("kinds"),
    listed("types"),
    *one_of("webhooks", "ceiling", "public", "internal", "confidential", "secret", default="internal"),
    timestamp("created_at"),
    timestamp("failing_since", nullable=True),
    timestamp("disabled_at", nullable=True),
    words("disabled_reason", nullable=True),
    PrimaryKeyConstraint("tenant_id", "id", name="webhooks_pk"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="webhooks_tenant_fk", ondelete="CASCADE"),
)


def of_webhook(table: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant_id", "webhook_id"],
        ["webhooks.tenant_id", "webhooks.id"],
        name=f"{table}_webhook_fk",
        ondelete="CASCADE",
    )


# The queue of a webhook's deliveries of one wiki, in order. One sender at a time claims a queue, until `due_at` at
# most.
webhook_queues = scoped_table(
    "webhook_queues",
    identifier("webhook_id"),
    Column("last_position", BigInteger, nullable=False),
    timestamp("due_at", nullable=True),
    words("claimed_by", nullable=True),
    of_webhook("webhook_queues"),
    key=("owner_id", "webhook_id"),
)
Index("webhook_queues_due_ix", webhook_queues.c.tenant_id, webhook_queues.c.due_at)
Index("webhook_queues_webhook_ix", webhook_queues.c.tenant_id, webhook_queues.c.webhook_id)

webhook_deliveries = scoped_table(
    "webhook_deliveries",
    identifier("webhook_id"),
    Column("position", BigInteger, nullable=False),
    words("kind"),
    identifier("page_id", nullable=True),
    words("page_type", nullable=True),
    words("slug", nullable=True),
    number("version", nullable=True),
    timestamp("happened_at"),
    *one_of("webhook_deliveries", "status", "pending", "delivered", "dead", default="pending"),
    number("attempts", default=0),
    timestamp("retry_until"),
    timestamp("attempted_at", nullable=True),
    timestamp("finished_at", nullable=True),
    number("response_status", nullable=True),
    words("error", nullable=True),
    identifier("proposal_id", nullable=True),
    words("operation", nullable=True),
    words("significance", nullable=True),
    words("author_kind", nullable=True),
    words("author_id", nullable=True),
    of_webhook("webhook_deliveries"),
    CheckConstraint("(status = 'pending') = (finished_at IS NULL)", name="webhook_deliveries_finished_ck"),
)
DELIVERIES = webhook_deliveries.c
Index(
    "webhook_deliveries_pending_ix", DELIVERIES.tenant_id, DELIVERIES.webhook_id, DELIVERIES.owner_id,
    DELIVERIES.position, postgresql_where=text("status = 'pending'"),
)  # fmt: skip
Index("webhook_deliveries_webhook_ix", DELIVERIES.tenant_id, DELIVERIES.webhook_id, DELIVERIES.id.desc())
Index("webhook_deliveries_finished_ix", DELIVERIES.tenant_id, DELIVERIES.status, DELIVERIES.finished_at)
