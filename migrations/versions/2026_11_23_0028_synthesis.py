"""Each wiki says how many sources a page needs before a text of its own is written from them."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.add_column("owners", sa.Column("min_sources_for_synthesis", sa.Integer, nullable=False, server_default="3"))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
