"""Renames whose new name is still to be put into texts."""

from alembic import op

from migrations.columns import create_scoped, integer, moment, refers, text, uuid

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    create_scoped(
        "renamings",
        uuid("page_id"),
        text("slug"),
        text("title"),
        uuid("reached_id"),
        integer("remaining"),
        text("actor_kind"),
        text("actor_id"),
        moment("created_at"),
        refers("renamings", "page_id", "pages"),
    )
    op.create_index("renamings_page_ix", "renamings", ["tenant_id", "page_id"])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
