"""Each wiki says how much its pages count beside evidence; the shared spaces of a tenant are found by an index."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.add_column("owners", sa.Column("score_boost", sa.Double, nullable=False, server_default=sa.text("0.9")))
    # Nobody but an operator writes owners: the table is small, and its index is made in a moment.
    op.create_index("owners_shared_ix", "owners", ["tenant_id", "slug"], postgresql_where=sa.text("kind = 'shared'"))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
