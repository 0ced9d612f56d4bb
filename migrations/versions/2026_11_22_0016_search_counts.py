"""The words of a wiki are counted some to a row, and can be counted anew beside what was counted before.

A row for each word took a key of sixty bytes for a number. The rows of search_terms stay until their wiki is next
counted, or reindexed; nothing reads them for a wiki that has shelves.
"""

import sqlalchemy as sa
from alembic import op

from migrations.columns import create_scoped, integer, jsonb

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    create_scoped(
        "search_counts",
        sa.Column("analyser", sa.SmallInteger, nullable=False),
        sa.Column("edition", sa.SmallInteger, nullable=False),
        integer("shelf"), jsonb("pages"),
        key=("owner_id", "analyser", "edition", "shelf"),
    )  # fmt: skip
    for table in ("search_counts", "search_changes"):  # to compress what goes again soon takes longer than to write it
        op.execute(f"ALTER TABLE {table} SET (toast_tuple_target = 8160)")
    for table in ("search_counts", "search_vocabulary"):  # room on its page for what takes the place of a row
        op.execute(f"ALTER TABLE {table} SET (fillfactor = 70)")
    op.execute(
        "CREATE STATISTICS search_counts_scope_st (dependencies, ndistinct) ON tenant_id, owner_id FROM search_counts"
    )
    add("search_scopes", sa.Column("edition", sa.SmallInteger, nullable=False, server_default=sa.text("0")))
    add("search_scopes", integer("shelves", null=True))
    add("search_scopes", integer("recounted_pages", null=True))
    add("search_scopes", sa.Column("recounted_words", sa.BigInteger, nullable=True))
    add("search_changes", sa.Column("recounted", sa.Boolean, nullable=False, server_default=sa.text("false")))


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")


def add(table: str, column: sa.Column) -> None:  # type: ignore[type-arg]
    op.add_column(table, column, if_not_exists=True)
