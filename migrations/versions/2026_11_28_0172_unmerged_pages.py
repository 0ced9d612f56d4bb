"""A page that was merged into another and brought back says so; of those of before, what the merge wrote of them."""

import sqlalchemy as sa
from alembic import op

revision = "0172"
down_revision = "0171"
runs_beside = "0029"

BROUGHT_BACK = """
UPDATE pages AS p SET was_merged = true
WHERE EXISTS (
    SELECT FROM revisions AS r
    WHERE r.tenant_id = p.tenant_id AND r.owner_id = p.owner_id AND r.page_id = p.id
      AND starts_with(r.edit_summary, 'Merged into ') AND (r.slug IS NULL OR r.slug ~ '-merged(-[0-9]+)?$')
) AND NOT EXISTS (
    SELECT FROM merged_pages AS m
    WHERE m.tenant_id = p.tenant_id AND m.owner_id = p.owner_id AND m.page_id = p.id
)
"""


def upgrade() -> None:
    op.add_column(
        "pages",
        sa.Column("was_merged", sa.Boolean, nullable=False, server_default=sa.text("false")),
        if_not_exists=True,  # an interrupted update has left it
    )
    with op.get_context().autocommit_block():
        op.execute(BROUGHT_BACK)


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
