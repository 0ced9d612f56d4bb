"""Authorizations: programs that people let into their wiki by OAuth."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, moment, one_of, text, texts

revision = "0090"
down_revision = "0080"
runs_beside = "0029"


def upgrade() -> None:
    create_scoped(
        "oauth_authorizations",
        sa.Column("client_hash", sa.LargeBinary, nullable=False, comment="SHA-256 of the client's id"),
        text("client_name"),
        *one_of("oauth_authorizations", "role", "reader", "member", "service", "admin"),
        text("author"),
        texts("scopes"),
        text("resource"),
        text("redirect_uri"),
        sa.Column("redirect_is_given", sa.Boolean, nullable=False),
        sa.Column("code_hash", sa.LargeBinary, nullable=False, comment="SHA-256 of the code; it is never stored"),
        text("code_challenge"),
        moment("code_expires_at"),
        moment("redeemed_at", null=True),
        sa.Column("refresh_hash", sa.LargeBinary, comment="SHA-256 of the refresh token; it is never stored"),
        sa.Column("former_hash", sa.LargeBinary, comment="of the refresh token before, by which theft shows"),
        moment("created_at"),
        moment("used_at", null=True),
        moment("expires_at"),
        moment("withdrawn_at", null=True),
    )
    table = "oauth_authorizations"
    op.create_index("oauth_authorizations_code_uq", table, ["tenant_id", "code_hash"], unique=True)
    op.create_index("oauth_authorizations_refresh_uq", table, ["tenant_id", "refresh_hash"], unique=True)
    op.create_index("oauth_authorizations_former_ix", table, ["tenant_id", "former_hash"])
    op.create_index("oauth_authorizations_owner_ix", table, ["tenant_id", "owner_id", sa.text("id DESC")])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
