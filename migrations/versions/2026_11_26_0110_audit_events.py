"""The audit log of a tenant, and that of the operator under the nil UUID: who did what to its security."""

import sqlalchemy as sa
from alembic import op

from migrations.columns import integer, jsonb, moment, one_of, text, uuid
from migrations.distribute import distribute

revision = "0110"
down_revision = "0090"
runs_beside = "0029"


def upgrade() -> None:
    op.create_table(
        "audit_events",
        uuid("tenant_id"),
        uuid("id"),
        moment("at"),
        text("action"),
        *one_of("audit_events", "outcome", "done", "refused"),
        *one_of("audit_events", "actor_kind", "agent", "user", "compiler", "service", null=True),
        text("actor_id", null=True),
        text("subject", null=True),
        text("address", null=True),
        text("request_id", null=True),
        jsonb("detail"),
        integer("times", "1"),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="audit_events_pk"),
    )
    distribute("audit_events")
    op.create_index("audit_events_action_ix", "audit_events", ["tenant_id", "action", sa.text("id DESC")])


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
