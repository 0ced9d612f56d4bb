"""Files kept byte for byte, the originals of sources, and sources of kind `run`."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import SCOPE, create_scoped, integer, jsonb, moment, refers, text, uuid

revision = "0045"
down_revision = "0039"
runs_beside = "0029"

KINDS = ("memory_unit", "daily_note", "document", "artifact", "journal_idea", "url", "run")


def upgrade() -> None:
    listed = ", ".join(f"'{kind}'" for kind in KINDS)
    check = f"CONSTRAINT sources_kind_ck CHECK (kind IN ({listed})) NOT VALID"
    with op.get_context().autocommit_block():  # rows are read without a lock; done twice, it comes to the same
        op.execute(f"ALTER TABLE sources DROP CONSTRAINT IF EXISTS sources_kind_ck, ADD {check}")
        op.execute("ALTER TABLE sources VALIDATE CONSTRAINT sources_kind_ck")
    create_scoped(
        "blobs",
        sa.Column("hash", sa.LargeBinary, nullable=False, comment="SHA-256 of the data"),
        integer("size"),
        sa.Column("data", sa.LargeBinary, nullable=False),
        moment("created_at"),
        key=("owner_id", "hash"),
    )
    create_scoped(
        "source_originals",
        uuid("source_id"),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        text("media_type"),
        text("address"),
        jsonb("flags", "[]"),
        refers("source_originals", "source_id", "sources"),
        sa.ForeignKeyConstraint(
            [*SCOPE, "hash"],
            ["blobs.tenant_id", "blobs.owner_id", "blobs.hash"],
            name="source_originals_hash_fk",
        ),
        key=("source_id",),
    )
    op.create_index("source_originals_hash_ix", "source_originals", ["tenant_id", "owner_id", "hash"])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
