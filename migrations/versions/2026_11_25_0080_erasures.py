"""A record of what was erased: how many rows of which tables, of whom, by whom and when, and not what they said."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import jsonb, moment, one_of, text, uuid
from migrations.distribute import distribute

revision = "0080"
down_revision = "0070"
runs_beside = "0029"


def upgrade() -> None:
    op.create_table(
        "erasures",
        uuid("tenant_id"),
        uuid("id"),
        *one_of("erasures", "kind", "tenant", "owner", "sources"),
        uuid("owner_id", null=True),
        text("erased_by"),
        jsonb("counts"),
        moment("erased_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="erasures_pk"),
    )
    distribute("erasures")


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
