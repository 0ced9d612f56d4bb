"""Grounding: when the newest source that supports each sentence of a section was captured, null for one without any."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

revision = "0027"
down_revision = "0025"


def upgrade() -> None:
    """Sections that were not written since have none: nothing is known of them until they are."""
    op.add_column("sections", sa.Column("supported_at", pg.ARRAY(sa.DateTime(timezone=True)), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
