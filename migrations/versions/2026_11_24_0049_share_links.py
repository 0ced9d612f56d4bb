"""Share links: one page, read without a credential until the link ends."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, moment, one_of, refers, text, uuid

revision = "0049"
down_revision = "0045"
runs_beside = "0029"


def upgrade() -> None:
    create_scoped(
        "share_links",
        uuid("page_id"),
        sa.Column("token_hash", sa.LargeBinary, nullable=False, comment="SHA-256 of the link; it is never stored"),
        *one_of("share_links", "author_kind", "agent", "user", "compiler", "service"),
        text("author_id"),
        moment("created_at"),
        moment("expires_at"),
        moment("withdrawn_at", null=True),
        refers("share_links", "page_id", "pages"),
    )
    op.create_index("share_links_token_uq", "share_links", ["tenant_id", "token_hash"], unique=True)
    op.create_index("share_links_owner_ix", "share_links", ["tenant_id", "owner_id", sa.text("id DESC")])
    op.create_index("share_links_page_ix", "share_links", ["tenant_id", "page_id", sa.text("id DESC")])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
