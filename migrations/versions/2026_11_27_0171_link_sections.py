"""A link of a text says which sections of the page write it; workers look at the texts that were there before."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0171"
down_revision = "0170"
runs_beside = "0029"


def upgrade() -> None:
    op.add_column("link_targets", sa.Column("section_slugs", ARRAY(sa.Text)))
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS link_targets_unplaced_ix")  # what an interrupted build has left
        op.create_index(
            "link_targets_unplaced_ix",
            "link_targets",
            ["tenant_id", "owner_id", "from_page_id"],
            postgresql_where=sa.text("relation = 'text' AND section_slugs IS NULL"),
            postgresql_concurrently=True,
            if_not_exists=True,
        )


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
