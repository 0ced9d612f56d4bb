"""What search reads: narrow rows beside the pages, and every name a page answers to."""

from sqlalchemy import Column, ForeignKeyConstraint, Index, Text
from sqlalchemy.dialects.postgresql import TSVECTOR

from .columns import identifier, moment, one_of, scoped_table


def page_key(table: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant_id", "owner_id", "page_id"],
        ["pages.tenant_id", "pages.owner_id", "pages.id"],
        name=f"{table}_page_fk",
        ondelete="CASCADE",
    )


page_search = scoped_table(
    "page_search",
    identifier("page_id"),
    *one_of("page_search", "status", "active", "archived"),
    Column("tsv", TSVECTOR, nullable=False),
    moment("last_compiled_at", nullable=True),
    page_key("page_search"),
    key=("page_id",),
)
Index("page_search_tsv_ix", page_search.c.tenant_id, page_search.c.owner_id, page_search.c.tsv, postgresql_using="gin")

page_names = scoped_table(
    "page_names",
    identifier("page_id"),
    *one_of("page_names", "kind", "title", "alias", "slug", "old_slug"),
    Column("name", Text(collation="C"), nullable=False),
    *one_of("page_names", "status", "active", "archived"),
    page_key("page_names"),
    key=("page_id", "kind", "name"),
)
Index("page_names_name_ix", page_names.c.tenant_id, page_names.c.owner_id, page_names.c.name, page_names.c.page_id)
Index(
    "page_names_trgm_ix", page_names.c.tenant_id, page_names.c.owner_id, page_names.c.name,
    postgresql_using="gin", postgresql_ops={"name": "gin_trgm_ops"},
)  # fmt: skip
