"""Where the last change of each page stands among all changes of its wiki; the pages of before by when they changed."""

from alembic import op

from migrations.columns import create_scoped, integer, moment, uuid

revision = "0011"
down_revision = "0010"

NUMBERED = """
INSERT INTO page_positions (tenant_id, owner_id, page_id, position, changed_at)
SELECT tenant_id, owner_id, id,
       row_number() OVER (PARTITION BY tenant_id, owner_id ORDER BY updated_at, id), updated_at
FROM pages
"""


def upgrade() -> None:
    create_scoped("page_positions", uuid("page_id"), integer("position"), moment("changed_at"), key=("page_id",))
    op.create_index("page_positions_order_ix", "page_positions", ["tenant_id", "owner_id", "position"], unique=True)
    op.execute(NUMBERED)


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
