"""Lint of a wiki by its own measures: its settings, what is muted and why, and a report of each run."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, integer, jsonb, moment, one_of, refers, text, uuid

revision = "0039"
down_revision = "0037"
runs_beside = "0029"


def upgrade() -> None:
    op.add_column("owners", integer("stale_after_days", "90"))
    op.add_column("owners", integer("oversize_characters", "20000"))
    op.add_column("owners", integer("lint_min_pages", "3"))
    op.add_column("owners", integer("lint_every_days", "7"))
    op.add_column("owners", integer("lint_after_sources", "5"))
    op.add_column("owners", sa.Column("requires_sensitivity", sa.Boolean, nullable=False, server_default="false"))
    create_scoped(
        "lint_mutes",
        text("check_name"),
        text("subject"),
        uuid("page_id", null=True),
        text("name", null=True),
        text("reason"),
        *one_of("lint_mutes", "author_kind", "agent", "user", "compiler", "service"),
        text("author_id"),
        moment("until", null=True),
        moment("created_at"),
        refers("lint_mutes", "page_id", "pages"),
        key=("owner_id", "check_name", "subject"),
    )
    op.create_index("lint_mutes_page_ix", "lint_mutes", ["tenant_id", "page_id"])
    create_scoped(
        "lint_reports",
        text("trigger"),
        integer("found"),
        integer("muted"),
        jsonb("counts", "[]"),
        moment("created_at"),
    )
    op.create_index("lint_reports_owner_ix", "lint_reports", ["tenant_id", "owner_id", sa.text("id DESC")])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
