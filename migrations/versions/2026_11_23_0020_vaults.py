"""Vaults: relations of pages beside the links in their texts, names that lead nowhere yet, and files as they came."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, refers, text, uuid

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("link_targets", text("relation", default="text"), if_not_exists=True)
    create_scoped(
        "redirects",
        text("slug"),
        text("path"),
        text("target"),
        text("type", null=True),
        text("target_slug"),
        text("target_alias"),
        key=("owner_id", "slug"),
    )
    op.create_index("redirects_slug_ix", "redirects", ["tenant_id", "owner_id", "target_slug"])
    op.create_index("redirects_alias_ix", "redirects", ["tenant_id", "owner_id", "target_alias"])
    create_scoped(
        "originals",
        uuid("page_id"),
        sa.Column("file", sa.LargeBinary, nullable=False),
        sa.Column("body_start", sa.Integer),
        sa.Column("is_respelled", sa.Boolean, nullable=False),
        text("format"),
        text("fields_hash"),
        text("body_hash"),
        refers("originals", "page_id", "pages"),
        key=("page_id",),
    )


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
