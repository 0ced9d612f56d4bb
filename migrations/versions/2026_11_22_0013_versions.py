"""Revisions: what a version says besides its text. Those that are there do not say it."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("revisions", sa.Column("slug", sa.Text))
    op.add_column("revisions", sa.Column("metadata", pg.JSONB))
    op.add_column("revisions", sa.Column("aliases", pg.ARRAY(sa.Text)))
    op.add_column("revisions", sa.Column("facts_version", sa.Integer))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
