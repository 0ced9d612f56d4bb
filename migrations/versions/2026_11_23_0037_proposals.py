"""The write policy of a wiki, and proposals: writes that wait for a reviewer."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, integer, jsonb, moment, one_of, refers, text, texts, uuid

revision = "0037"
down_revision = "0033"
runs_beside = "0029"  # an older release writes past a policy: set one when all servers know it


def upgrade() -> None:
    op.add_column("owners", jsonb("write_policy", "[]"))
    create_scoped(
        "proposals",
        uuid("page_id", null=True),
        text("page_type", null=True),
        text("title", null=True),
        integer("base_version", null=True),
        text("operation"),
        jsonb("arguments"),
        text("proposed_title", null=True),
        text("proposed_summary", null=True),
        text("proposed_body", null=True),
        text("why", null=True),
        texts("evidence"),
        *one_of("proposals", "significance", "low", "medium", "high"),
        sa.Column(
            "digest",
            sa.LargeBinary,
            nullable=False,
            comment="SHA-256 of the author, the operation and its base version",
        ),
        *one_of("proposals", "status", "open", "accepted", "declined", "withdrawn", "expired"),
        *one_of("proposals", "author_kind", "agent", "user", "compiler", "service"),
        text("author_id"),
        moment("created_at"),
        moment("expires_at"),
        moment("decided_at", null=True),
        *one_of("proposals", "decider_kind", "agent", "user", "compiler", "service", null=True),
        text("decider_id", null=True),
        text("reason", null=True),
        integer("accepted_version", null=True),
        refers("proposals", "page_id", "pages"),
    )
    is_open = sa.text("status = 'open'")
    op.create_index("proposals_owner_ix", "proposals", ["tenant_id", "owner_id", sa.text("id DESC")])
    op.create_index("proposals_page_ix", "proposals", ["tenant_id", "page_id", sa.text("id DESC")])
    op.create_index(
        "proposals_open_uq", "proposals", ["tenant_id", "owner_id", "digest"], unique=True, postgresql_where=is_open
    )
    op.create_index("proposals_expiry_ix", "proposals", ["tenant_id", "expires_at"], postgresql_where=is_open)


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
