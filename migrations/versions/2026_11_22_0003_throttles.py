"""Throttles: how many rows a credential and a tenant may still ask for, shared by all processes."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import of_tenant, uuid
from migrations.distribute import distribute

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    subject = "kind and id of the actor; empty for the tenant"
    op.create_table(
        "throttles",
        uuid("tenant_id"),
        sa.Column("subject", sa.Text, nullable=False, comment=subject),
        sa.Column("tokens", sa.Double, nullable=False, comment="in rows, at the moment `at`"),
        sa.Column("leased", sa.Double, nullable=False, comment="what the last one who asked was given"),
        sa.Column("at", sa.Double, nullable=False, comment="seconds since 1970 by the clock of the server"),
        sa.PrimaryKeyConstraint("tenant_id", "subject", name="throttles_pk"),
        of_tenant("throttles"),
    )
    distribute("throttles")


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
