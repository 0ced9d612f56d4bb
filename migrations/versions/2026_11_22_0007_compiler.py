"""The compiler: what a job was asked with, one running job in each wiki, and what it looks for quickly."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import jsonb

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("compile_jobs", jsonb("options"), if_not_exists=True)
    # None of these waits for writers, so each stands outside of the transaction.
    with op.get_context().autocommit_block():
        for name in ("compile_jobs_running_uq", "sources_created_ix", "aliases_likeness_ix"):
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # what an interrupted build has left
        op.create_index(
            "compile_jobs_running_uq",
            "compile_jobs",
            ["tenant_id", "owner_id"],
            unique=True,
            postgresql_where=sa.text("status = 'running'"),
            postgresql_concurrently=True,
            if_not_exists=True,
        )
        op.create_index(
            "sources_created_ix",
            "sources",
            ["tenant_id", "owner_id", "created_at", "id"],
            postgresql_concurrently=True,
            if_not_exists=True,
        )
        op.create_index(
            "aliases_likeness_ix",
            "aliases",
            ["tenant_id", "owner_id", "alias"],
            postgresql_using="gin",
            postgresql_ops={"alias": "gin_trgm_ops"},
            postgresql_concurrently=True,
            if_not_exists=True,
        )


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
