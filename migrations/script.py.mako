"""${message}."""

from alembic import op

revision = "${up_revision}"
down_revision = "${down_revision}"
runs_beside = "${down_revision}"  # the oldest revision whose release still works beside this one


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
