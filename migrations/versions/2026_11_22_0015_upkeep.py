"""Upkeep: when a wiki was last swept, which sources were forgotten, and the states that were erased with them."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, moment, refers, text, uuid

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    create_scoped("sweeps", sa.Column("swept_on", sa.Date, nullable=False, comment="in UTC"), key=("owner_id",))
    op.add_column("sources", moment("forgotten_at", null=True), if_not_exists=True)
    op.add_column("sources", text("forgotten_by", null=True), if_not_exists=True)
    op.add_column("sources", text("forgotten_reason", null=True), if_not_exists=True)
    op.add_column("revisions", moment("erased_at", null=True), if_not_exists=True)
    create_scoped(
        "forgettings",
        uuid("source_id"), text("said"), moment("since"),
        refers("forgettings", "source_id", "sources"),
        key=("source_id",),
    )  # fmt: skip


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
