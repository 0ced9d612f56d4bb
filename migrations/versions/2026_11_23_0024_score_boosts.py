"""Each wiki says how much its pages count beside evidence in a search over both."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.add_column("owners", sa.Column("score_boost", sa.Double, nullable=False, server_default=sa.text("0.9")))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
