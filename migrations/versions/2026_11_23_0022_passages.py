"""Passages of sources, which search finds. Those of sources that are there already are read by `cairn reindex`."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from migrations.columns import integer, moment, one_of, refers, text, uuid
from migrations.distribute import distribute

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "search_passages",
        uuid("tenant_id"), uuid("owner_id"), uuid("source_id"), integer("position"),
        sa.Column("analyser", sa.SmallInteger, nullable=False),
        *one_of("search_passages", "status", "current", "superseded"),
        text("kind"), moment("captured_at"),
        integer("start_offset"), integer("end_offset"), integer("line_start"), integer("line_end"),
        text("heading"), text("speaker"),
        sa.Column("asks", sa.Boolean, nullable=False), sa.Column("corrects", sa.Boolean, nullable=False),
        text("text"), integer("words"),
        sa.Column("tsv", pg.TSVECTOR, nullable=False),
        sa.PrimaryKeyConstraint("source_id", "position", "tenant_id", "analyser", name="search_passages_pk"),
        refers("search_passages", "source_id", "sources"),
    )  # fmt: skip
    distribute("search_passages")
    op.create_index(
        "search_passages_words_ix", "search_passages", ["tsv"],
        postgresql_using="gin", postgresql_with={"fastupdate": "off"},
    )  # fmt: skip


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
