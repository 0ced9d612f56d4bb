"""API keys have scopes, networks, a moment of last use, and for a while a former secret after they were rotated."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import moment, texts

revision = "0111"
down_revision = "0110"
runs_beside = "0029"


def upgrade() -> None:
    op.add_column("api_keys", texts("scopes"))
    op.add_column("api_keys", texts("networks"))
    op.add_column("api_keys", moment("used_at", null=True))
    op.add_column("api_keys", sa.Column("former_hash", sa.LargeBinary, comment="of the secret before the last one"))
    op.add_column("api_keys", moment("former_until", null=True))
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS api_keys_former_uq")  # what an interrupted build has left
        op.create_index(
            "api_keys_former_uq", "api_keys", ["former_hash"], unique=True, postgresql_concurrently=True,
            if_not_exists=True,
        )  # fmt: skip


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
