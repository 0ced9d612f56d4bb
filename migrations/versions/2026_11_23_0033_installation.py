"""One row about the database as a whole: the oldest release that works beside it, and which history it holds."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import text, uuid
from migrations.distribute import copy_everywhere

revision = "0033"
down_revision = "0029"
runs_beside = "0029"


def upgrade() -> None:
    op.create_table(
        "installation",
        sa.Column("id", sa.Boolean, nullable=False, server_default=sa.true()),
        text("oldest_revision"),
        uuid("history_id"),
        sa.PrimaryKeyConstraint("id", name="installation_pk"),
        sa.CheckConstraint("id", name="installation_id_ck"),
    )
    copy_everywhere("installation")
    op.execute("INSERT INTO installation (oldest_revision, history_id) VALUES ('0029', gen_random_uuid())")


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
