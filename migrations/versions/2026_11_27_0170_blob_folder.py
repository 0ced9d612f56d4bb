"""The bytes of a file may lie in a folder: then its row says so, and has none."""

import sqlalchemy as sa
from alembic import op

revision = "0170"
down_revision = "0160"
runs_beside = "0029"


def upgrade() -> None:
    op.add_column("blobs", sa.Column("is_in_folder", sa.Boolean, nullable=False, server_default=sa.false()))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
