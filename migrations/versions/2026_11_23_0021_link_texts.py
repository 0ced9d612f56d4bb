"""Link targets: the text that a page shows for a link. Texts that are there say it when they are next saved."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.add_column("link_targets", sa.Column("text", sa.Text))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
