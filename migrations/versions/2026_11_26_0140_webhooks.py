"""Webhooks: where a tenant's changes are sent, the queues of their wikis, and what is delivered."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, integer, moment, of_tenant, one_of, text, texts, uuid
from migrations.distribute import distribute

revision = "0140"
down_revision = "0120"
runs_beside = "0029"


def of_webhook(table: str) -> sa.ForeignKeyConstraint:
    here, there = ["tenant_id", "webhook_id"], ["webhooks.tenant_id", "webhooks.id"]
    return sa.ForeignKeyConstraint(here, there, name=f"{table}_webhook_fk", ondelete="CASCADE")


def upgrade() -> None:
    empty, comment = sa.text("'{}'"), "of which wikis; empty for all"
    op.create_table(
        "webhooks",
        uuid("tenant_id"),
        uuid("id"),
        text("url"),
        text("secret"),
        text("former_secret", null=True),
        moment("former_until", null=True),
        sa.Column("owner_ids", sa.ARRAY(sa.Uuid), nullable=False, server_default=empty, comment=comment),
        texts("kinds"),
        texts("types"),
        *one_of("webhooks", "ceiling", "public", "internal", "confidential", "secret", default="internal"),
        moment("created_at"),
        moment("failing_since", null=True),
        moment("disabled_at", null=True),
        text("disabled_reason", null=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="webhooks_pk"),
        of_tenant("webhooks"),
    )
    distribute("webhooks")
    create_scoped(
        "webhook_queues",
        uuid("webhook_id"),
        sa.Column("last_position", sa.BigInteger, nullable=False),
        moment("due_at", null=True),
        text("claimed_by", null=True),
        of_webhook("webhook_queues"),
        key=("owner_id", "webhook_id"),
    )
    op.create_index("webhook_queues_due_ix", "webhook_queues", ["tenant_id", "due_at"])
    op.create_index("webhook_queues_webhook_ix", "webhook_queues", ["tenant_id", "webhook_id"])
    create_scoped(
        "webhook_deliveries",
        uuid("webhook_id"),
        sa.Column("position", sa.BigInteger, nullable=False),
        text("kind"),
        uuid("page_id", null=True),
        text("page_type", null=True),
        text("slug", null=True),
        integer("version", null=True),
        moment("happened_at"),
        *one_of("webhook_deliveries", "status", "pending", "delivered", "dead", default="pending"),
        integer("attempts", "0"),
        moment("retry_until"),
        moment("attempted_at", null=True),
        moment("finished_at", null=True),
        integer("response_status", null=True),
        text("error", null=True),
        of_webhook("webhook_deliveries"),
        sa.CheckConstraint("(status = 'pending') = (finished_at IS NULL)", name="webhook_deliveries_finished_ck"),
    )
    op.create_index(
        "webhook_deliveries_pending_ix", "webhook_deliveries", ["tenant_id", "webhook_id", "owner_id", "position"],
        postgresql_where=sa.text("status = 'pending'"),
    )  # fmt: skip
    newest = sa.text("id DESC")
    op.create_index("webhook_deliveries_webhook_ix", "webhook_deliveries", ["tenant_id", "webhook_id", newest])
    op.create_index("webhook_deliveries_finished_ix", "webhook_deliveries", ["tenant_id", "status", "finished_at"])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
