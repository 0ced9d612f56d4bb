"""Superseded claims: what a page used to say, what it says now, and the sources of both."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, moment, one_of, refers, text, uuid

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    create_scoped(
        "superseded_claims",
        uuid("page_id"),
        text("section_slug", null=True),
        text("heading", null=True),
        text("fact"),
        text("replacement"),
        uuid("stated_by_id", null=True),
        uuid("overridden_by_id", null=True),
        moment("superseded_on"),
        sa.Column(
            "digest", sa.LargeBinary, nullable=False, comment="SHA-256 of the fact and of the source that overrode it"
        ),
        *one_of("superseded_claims", "author_kind", "agent", "user", "compiler", "service"),
        text("author_id"),
        moment("withdrawn_at", null=True),
        moment("created_at"),
        sa.UniqueConstraint("tenant_id", "page_id", "digest", name="superseded_claims_digest_uq"),
        refers("superseded_claims", "page_id", "pages"),
        refers("superseded_claims", "stated_by_id", "sources"),
        refers("superseded_claims", "overridden_by_id", "sources"),
    )
    op.create_index(
        "superseded_claims_page_ix",
        "superseded_claims",
        ["tenant_id", "page_id", sa.text("superseded_on DESC"), sa.text("id DESC")],
        postgresql_where=sa.text("withdrawn_at IS NULL"),
    )
    op.create_index("superseded_claims_stated_ix", "superseded_claims", ["tenant_id", "stated_by_id"])
    op.create_index("superseded_claims_overridden_ix", "superseded_claims", ["tenant_id", "overridden_by_id"])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
