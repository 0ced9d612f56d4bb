"""Placements: which topics list a page, and where."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, refers, text, texts, uuid

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    create_scoped(
        "placements",
        uuid("page_id"),
        text("alias"),
        text("name"),
        texts("bases"),
        text("kind"),
        texts("tags"),
        uuid("parent_page_id", null=True),
        text("section_slug", null=True),
        sa.Column("is_delegated", sa.Boolean, nullable=False, server_default=sa.text("false")),
        refers("placements", "page_id", "pages"),
        refers("placements", "parent_page_id", "pages"),
        key=("owner_id", "page_id", "alias"),
    )
    op.create_index(
        "placements_waiting_ix",
        "placements",
        ["tenant_id", "owner_id", "alias", "page_id"],
        postgresql_where=sa.text("parent_page_id IS NULL"),
    )
    op.create_index("placements_listed_ix", "placements", ["tenant_id", "parent_page_id", "section_slug", "page_id"])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
