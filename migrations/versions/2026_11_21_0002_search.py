"""Search: the words of every page, and what the words of a wiki are like.

Lexemes carry their scope in their first character, so the index needs no column of tenants before them, and no
statistics by scope. The rows are filled by `cairn reindex`, which `cairn migrate` runs; page_search, which the first
search read, goes.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from migrations.columns import create_scoped, integer, moment, one_of, refers, text, texts, uuid
from migrations.distribute import distribute

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS fuzzystrmatch")
    op.add_column("owners", text("language", default="english"))
    create_pages()
    create_scopes()
    create_words()
    op.drop_table("page_search")
    op.drop_index("page_names_trgm_ix")


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")


def analyser() -> sa.Column[int]:
    return sa.Column("analyser", sa.SmallInteger, nullable=False)


def exact(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(collation="C"), nullable=False)


def create_pages() -> None:
    op.create_table(
        "search_pages",
        uuid("tenant_id"), uuid("owner_id"), uuid("page_id"), analyser(),
        *one_of("search_pages", "status", "active", "archived"),
        text("type"), texts("tags"), integer("title_words"), integer("words"),
        sa.Column("tsv", pg.TSVECTOR, nullable=False), sa.Column("name_tsv", pg.TSVECTOR, nullable=False),
        sa.PrimaryKeyConstraint("page_id", "tenant_id", "analyser", name="search_pages_pk"),
        refers("search_pages", "page_id", "pages"),
        postgresql_with={"toast_tuple_target": "8160"},
    )  # fmt: skip
    distribute("search_pages")
    op.create_index(
        "search_pages_words_ix", "search_pages", ["tsv", "name_tsv"],
        postgresql_using="gin", postgresql_with={"fastupdate": "off"},
    )  # fmt: skip


def create_scopes() -> None:
    create_scoped(
        "search_scopes",
        analyser(), *one_of("search_scopes", "state", "building", "ready"),
        integer("pages"), sa.Column("words", sa.BigInteger, nullable=False), texts("languages"),
        uuid("reached", null=True), moment("updated_at"),
        key=("owner_id", "analyser"),
    )  # fmt: skip
    create_scoped(
        "search_changes",
        analyser(), texts("gained"), texts("lost"), texts("text_words"), texts("name_words"), text("language"),
        integer("pages"), integer("words"),
        key=("owner_id", "analyser", "id"),
    )  # fmt: skip


def create_words() -> None:
    create_scoped("search_terms", analyser(), exact("lexeme"), integer("pages"), key=("owner_id", "analyser", "lexeme"))
    create_scoped(
        "search_vocabulary",
        analyser(),
        *one_of("search_vocabulary", "place", "name", "text"),
        *one_of("search_vocabulary", "side", "initial", "final"),
        exact("letter"), sa.Column("length", sa.SmallInteger, nullable=False), texts("words"),
        key=("owner_id", "analyser", "side", "letter", "length", "place"),
    )  # fmt: skip
