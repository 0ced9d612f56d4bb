"""What Postgres knows of the words of a wiki: that an owner belongs to one tenant.

Without that it takes the two for independent, expects a dozen words in a wiki that has thirty thousand, and reads them
all where it could look up two.
"""

from alembic import op

revision = "0014"
down_revision = "0013"

TABLES = ("search_terms", "search_vocabulary")


def upgrade() -> None:
    for table in TABLES:
        op.execute(f"CREATE STATISTICS {table}_scope_st (dependencies, ndistinct) ON tenant_id, owner_id FROM {table}")
        op.execute(f"ANALYZE {table}")


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
