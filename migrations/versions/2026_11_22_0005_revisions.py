"""Revisions: a state may be kept as what differs from an earlier one of its page.

Those that are there have their whole text and keep it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("revisions", sa.Column("base_version", sa.Integer))
    op.add_column("revisions", sa.Column("base_starts", pg.ARRAY(sa.Integer)))
    op.add_column("revisions", sa.Column("base_lengths", pg.ARRAY(sa.Integer)))
    op.add_column("revisions", sa.Column("base_texts", pg.ARRAY(sa.Text)))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
