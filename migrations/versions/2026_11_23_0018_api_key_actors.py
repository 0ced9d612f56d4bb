"""API keys say who acts with them. Those that exist go on writing history as a service."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("actor_kind", sa.Text, nullable=False, server_default="service"))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
