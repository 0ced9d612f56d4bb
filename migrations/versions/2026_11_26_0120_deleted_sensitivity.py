"""The last change of a page that was deleted says how sensitive the page was, so that not everybody is told of it."""

from alembic import op

from migrations.columns import text

revision = "0120"
down_revision = "0111"
runs_beside = "0029"


def upgrade() -> None:
    op.add_column("page_positions", text("deleted_sensitivity", null=True))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
