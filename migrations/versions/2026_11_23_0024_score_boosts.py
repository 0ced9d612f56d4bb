"""Each wiki says how much its pages count beside evidence; shared spaces and links into a wiki have indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

INDEXES = (
    ("owners_shared_ix", "owners", ("tenant_id", "slug"), "kind = 'shared'"),
    ("link_targets_space_ix", "link_targets", ("tenant_id", "space", "slug"), "space IS NOT NULL"),
    ("link_targets_space_alias_ix", "link_targets", ("tenant_id", "space", "alias"), "space IS NOT NULL"),
)


def upgrade() -> None:
    with op.get_context().autocommit_block():
        for name, table, columns, condition in INDEXES:
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # what an interrupted build has left
            op.create_index(
                name,
                table,
                list(columns),
                postgresql_where=sa.text(condition),
                postgresql_concurrently=True,
                if_not_exists=True,
            )
    op.add_column("owners", sa.Column("score_boost", sa.Double, nullable=False, server_default=sa.text("0.9")))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
