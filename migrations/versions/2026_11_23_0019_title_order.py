"""Lists of pages by title pay no heed to case."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS pages_lower_title_ix")  # what an interrupted build has left
        op.create_index(
            "pages_lower_title_ix",
            "pages",
            ["tenant_id", "owner_id", "status", sa.text("lower(title)"), "id"],
            postgresql_concurrently=True,
            if_not_exists=True,
        )
        op.drop_index("pages_title_ix", "pages", postgresql_concurrently=True, if_exists=True)


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
