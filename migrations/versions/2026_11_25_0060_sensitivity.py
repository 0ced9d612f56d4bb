"""Pages, sections and sources that say how sensitive they are are found by indexes, and wikis say who may read them."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import text

revision = "0060"
down_revision = "0049"
runs_beside = "0029"

SAID = "lower(metadata ->> 'sensitivity') NOT IN ('', 'public', 'internal')"
INDEXES = (
    ("pages_sensitive_ix", "pages", SAID),
    ("sections_sensitive_ix", "sections", "strpos(lower(heading), '{sensitivity=') > 0"),
    ("sources_sensitive_ix", "sources", SAID),
)


def upgrade() -> None:
    with op.get_context().autocommit_block():
        for name, table, condition in INDEXES:
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # what an interrupted build has left
            op.create_index(
                name,
                table,
                ["tenant_id", "owner_id"],
                postgresql_where=sa.text(condition),
                postgresql_concurrently=True,
                if_not_exists=True,
            )
    op.add_column("owners", text("reader_ceiling", default="internal"))
    op.add_column("owners", text("member_ceiling", default="confidential"))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
