"""Webhooks are told of proposals, which say how sensitive they are."""

from alembic import op

from migrations.columns import text, uuid

revision = "0160"
down_revision = "0150"
runs_beside = "0029"


def upgrade() -> None:
    op.add_column("proposals", text("sensitivity", null=True))
    op.add_column("webhook_deliveries", uuid("proposal_id", null=True))
    for name in ("operation", "significance", "author_kind", "author_id"):
        op.add_column("webhook_deliveries", text(name, null=True))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
