"""Contradictions: two claims of a page that cannot both hold, their sources, and what was decided."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, integer, moment, one_of, refers, text, uuid

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    create_scoped(
        "contradictions",
        uuid("page_id"),
        text("older_claim"),
        text("older_section_slug", null=True),
        uuid("older_source_id", null=True),
        moment("older_on"),
        integer("older_support"),
        text("newer_claim"),
        text("newer_section_slug", null=True),
        uuid("newer_source_id", null=True),
        moment("newer_on"),
        integer("newer_support"),
        sa.Column("digest", sa.LargeBinary, nullable=False, comment="SHA-256 of both claims"),
        *one_of("contradictions", "status", "open", "resolved", "dismissed"),
        *one_of("contradictions", "resolution", "keep_newer", "keep_older", "both_hold", null=True),
        text("reason", null=True),
        moment("resolved_at", null=True),
        *one_of("contradictions", "resolver_kind", "agent", "user", "compiler", "service", null=True),
        text("resolver_id", null=True),
        *one_of("contradictions", "author_kind", "agent", "user", "compiler", "service"),
        text("author_id"),
        moment("created_at"),
        sa.UniqueConstraint("tenant_id", "page_id", "digest", name="contradictions_digest_uq"),
        refers("contradictions", "page_id", "pages"),
        refers("contradictions", "older_source_id", "sources"),
        refers("contradictions", "newer_source_id", "sources"),
    )
    op.create_index("contradictions_owner_ix", "contradictions", ["tenant_id", "owner_id", sa.text("id DESC")])
    op.create_index("contradictions_page_ix", "contradictions", ["tenant_id", "page_id", sa.text("id DESC")])
    op.create_index("contradictions_older_source_ix", "contradictions", ["tenant_id", "older_source_id"])
    op.create_index("contradictions_newer_source_ix", "contradictions", ["tenant_id", "newer_source_id"])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
