"""Questions that wait for a decision, and which decisions of a wiki get a page."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, moment, one_of, refers, text, texts, uuid

revision = "0061"
down_revision = "0060"
runs_beside = "0029"


def upgrade() -> None:
    op.add_column("owners", text("decision_threshold", default="medium"))
    create_scoped(
        "decision_questions",
        text("question"),
        text("why"),
        texts("options"),
        *one_of("decision_questions", "significance", "low", "medium", "high"),
        *one_of("decision_questions", "status", "open", "decided"),
        text("decision", null=True),
        uuid("page_id", null=True),
        *one_of("decision_questions", "author_kind", "agent", "user", "compiler", "service"),
        text("author_id"),
        moment("created_at"),
        moment("decided_at", null=True),
        refers("decision_questions", "page_id", "pages"),
    )
    op.create_index("decision_questions_owner_ix", "decision_questions", ["tenant_id", "owner_id", sa.text("id DESC")])
    op.create_index("decision_questions_page_ix", "decision_questions", ["tenant_id", "page_id"])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
