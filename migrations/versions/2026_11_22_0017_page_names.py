"""Names are found by owner and name alone: the tenant and the page made up half of each entry, and say nothing more.

The tenant is still asked for: of an owner's rows none are another tenant's, so it filters nothing out.
"""

from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS page_names_owner_ix")  # what an interrupted build has left
        op.create_index(
            "page_names_owner_ix", "page_names", ["owner_id", "name"], postgresql_concurrently=True, if_not_exists=True
        )
        op.drop_index("page_names_name_ix", "page_names", postgresql_concurrently=True, if_exists=True)


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
