"""Tool calls: how often agents called what, by the day."""

import sqlalchemy as sa

from migrations.columns import create_scoped, integer, text, uuid

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    create_scoped(
        "tool_calls",
        sa.Column("day", sa.Date, nullable=False, comment="in UTC"),
        text("tool"),
        uuid("page_id"),
        integer("calls"),
        key=("owner_id", "day", "tool", "page_id"),
    )


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
