"""Vectors of pages and passages, for servers that have an embedding model. They are arrays: pgvector is needed only by
the indexes, which `cairn embeddings enable` makes."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from migrations.columns import create_scoped, integer, moment, refers, text, uuid

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    create_scoped(
        "page_embeddings",
        uuid("page_id"),
        text("model"),
        integer("dimensions"),
        sa.Column("embedding", pg.ARRAY(sa.REAL), nullable=False),
        refers("page_embeddings", "page_id", "pages"),
        key=("page_id",),
    )
    create_scoped(
        "passage_embeddings",
        uuid("source_id"),
        integer("position"),
        sa.Column("analyser", sa.SmallInteger, nullable=False),
        text("model"),
        integer("dimensions"),
        sa.Column("embedding", pg.ARRAY(sa.REAL), nullable=False),
        refers("passage_embeddings", "source_id", "sources"),
        key=("source_id", "position", "analyser"),
    )
    for table in ("page_embeddings", "passage_embeddings"):
        op.create_index(f"{table}_owner_ix", table, ["tenant_id", "owner_id", "model"])
    create_scoped(
        "embedding_cursors",
        text("model"),
        integer("dimensions"),
        sa.Column("position", sa.BigInteger, nullable=False),
        uuid("source_id", null=True),
        integer("analyser"),
        moment("updated_at"),
        key=("owner_id",),
    )


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
