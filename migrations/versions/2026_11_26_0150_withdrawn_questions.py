"""Questions that wait for a decision may be withdrawn, with a reason."""

from alembic import op

from migrations.columns import text

revision = "0150"
down_revision = "0140"
runs_beside = "0029"

STATUSES = "'open', 'decided', 'withdrawn'"


def upgrade() -> None:
    check = f"CONSTRAINT decision_questions_status_ck CHECK (status IN ({STATUSES})) NOT VALID"
    with op.get_context().autocommit_block():  # rows are read without a lock; done twice, it comes to the same
        op.execute(
            f"ALTER TABLE decision_questions DROP CONSTRAINT IF EXISTS decision_questions_status_ck, ADD {check}"
        )
        op.execute("ALTER TABLE decision_questions VALIDATE CONSTRAINT decision_questions_status_ck")
    op.add_column("decision_questions", text("reason", null=True))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
