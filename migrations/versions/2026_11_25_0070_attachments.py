"""Attachments: the files beside the notes of an imported folder, kept byte for byte among the blobs of its wiki."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import SCOPE, create_scoped, integer, moment, text

revision = "0070"
down_revision = "0061"
runs_beside = "0029"


def upgrade() -> None:
    create_scoped(
        "attachments",
        text("path"),
        text("name"),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        text("media_type"),
        integer("width", null=True),
        integer("height", null=True),
        moment("created_at"),
        sa.ForeignKeyConstraint(
            [*SCOPE, "hash"],
            ["blobs.tenant_id", "blobs.owner_id", "blobs.hash"],
            name="attachments_hash_fk",
        ),
        key=("owner_id", "path"),
    )
    op.create_index("attachments_name_ix", "attachments", ["tenant_id", "owner_id", "name"])
    op.create_index("attachments_hash_ix", "attachments", ["tenant_id", "owner_id", "hash"])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
