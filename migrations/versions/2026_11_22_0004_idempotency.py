"""Idempotency keys: answers to writes, kept for whoever asks again."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import moment, of_tenant, uuid
from migrations.distribute import distribute

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "idempotency_keys",
        uuid("tenant_id"),
        sa.Column("digest", sa.LargeBinary, nullable=False, comment="SHA-256 of the credential and its key"),
        sa.Column("request", sa.LargeBinary, nullable=False, comment="SHA-256 of what was asked"),
        sa.Column("answer", sa.LargeBinary, nullable=False),
        moment("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "digest", name="idempotency_keys_pk"),
        of_tenant("idempotency_keys"),
    )
    distribute("idempotency_keys")
    op.create_index("idempotency_keys_created_ix", "idempotency_keys", ["tenant_id", "created_at"])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
