"""Tables of search: the words of each page and passage, the names of pages, and statistics of the words of a wiki.

Every lexeme in `search_pages` begins with a character that stands for its scope and analyser, so that one scope's
words lie together in the index and another's cost it nothing: docs/decisions/0005-full-text-search-in-postgres.md.
"""

from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR

from .columns import document, identifier, listed, metadata, number, one_of, refers, scoped_table, timestamp, words


def analyser() -> Column[int]:
    """Return the column with the analyser version (content.search.words) of a row. Several versions may coexist."""
    return Column("analyser", SmallInteger, nullable=False)


def page_key(table: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant_id", "owner_id", "page_id"],
        ["pages.tenant_id", "pages.owner_id", "pages.id"],
        name=f"{table}_page_fk",
        ondelete="CASCADE",
    )


def exact(name: str) -> Column[str]:
    """Return a text column that is sorted by bytes, so that a prefix is a range."""
    return Column(name, Text(collation="C"), nullable=False)


search_pages = Table(
    "search_pages",
    metadata,
    identifier("tenant_id"),
    identifier("owner_id"),
    identifier("page_id"),
    analyser(),
    *one_of("search_pages", "status", "active", "archived"),
    words("type"),
    listed("tags"),
    number("title_words"),
    number("words"),
    Column("tsv", TSVECTOR, nullable=False),
    Column("name_tsv", TSVECTOR, nullable=False),
    # The key begins with the page, so that no plan scans a whole tenant where the words find ten rows.
    PrimaryKeyConstraint("page_id", "tenant_id", "analyser", name="search_pages_pk"),
    page_key("search_pages"),
    postgresql_with={"toast_tuple_target": "8160"},
)
Index(
    "search_pages_words_ix", search_pages.c.tsv, search_pages.c.name_tsv,
    postgresql_using="gin", postgresql_with={"fastupdate": "off"},
)  # fmt: skip

# The passages of sources. The analysers of passages have their own numbers, from 100 on, in this table and those below.
search_passages = Table(
    "search_passages",
    metadata,
    identifier("tenant_id"),
    identifier("owner_id"),
    identifier("source_id"),
    number("position"),
    analyser(),
    *one_of("search_passages", "status", "current", "superseded"),
    words("kind"),
    timestamp("captured_at"),
    number("start_offset"),
    number("end_offset"),
    number("line_start"),
    number("line_end"),
    words("heading"),
    words("speaker"),
    Column("asks", Boolean, nullable=False),  # it ends in a question mark, so that the next passage may answer it
    Column("corrects", Boolean, nullable=False),  # it states a correction
    words("text"),
    number("words"),
    Column("tsv", TSVECTOR, nullable=False),
    PrimaryKeyConstraint("source_id", "position", "tenant_id", "analyser", name="search_passages_pk"),
    refers("search_passages", "source_id", "sources"),
)
Index(
    "search_passages_words_ix", search_passages.c.tsv,
    postgresql_using="gin", postgresql_with={"fastupdate": "off"},
)  # fmt: skip

search_scopes = scoped_table(
    "search_scopes",
    analyser(),
    *one_of("search_scopes", "state", "building", "ready"),
    number("pages"),
    Column("words", BigInteger, nullable=False),
    listed("languages"),
    identifier("reached", nullable=True),
    timestamp("updated_at"),
    Column("edition", SmallInteger, nullable=False, server_default=text("0")),  # of search_counts, that searches read
    number("shelves", nullable=True),  # a power of two; null while an older release's search_terms are read
    number("recounted_pages", nullable=True),  # pages in the other edition so far; null if none is being built
    Column("recounted_words", BigInteger, nullable=True),
    key=("owner_id", "analyser"),
)

# The number of pages with each lexeme. A row has the lexemes of a hash: {lexeme without its letter: number of pages}.
search_counts = scoped_table(
    "search_counts",
    analyser(),
    Column("edition", SmallInteger, nullable=False),
    number("shelf"),
    document("pages"),
    key=("owner_id", "analyser", "edition", "shelf"),
    postgresql_with={"toast_tuple_target": "8160", "fillfactor": "70"},
)

# The counts of an older release, with one row for each lexeme, which it still writes while it runs. The next fold adds
# them to search_counts.
search_terms = scoped_table(
    "search_terms", analyser(), exact("lexeme"), number("pages"), key=("owner_id", "analyser", "lexeme")
)

search_vocabulary = scoped_table(
    "search_vocabulary",
    analyser(),
    *one_of("search_vocabulary", "place", "name", "text"),
    *one_of("search_vocabulary", "side", "initial", "final"),
    exact("letter"),
    Column("length", SmallInteger, nullable=False),
    listed("words"),
    key=("owner_id", "analyser", "side", "letter", "length", "place"),
    postgresql_with={"fillfactor": "70"},
)

search_changes = scoped_table(
    "search_changes",
    analyser(),
    listed("gained"),
    listed("lost"),
    listed("text_words"),
    listed("name_words"),
    words("language"),
    number("pages"),
    number("words"),
    Column("recounted", Boolean, nullable=False, server_default=text("false")),
    key=("owner_id", "analyser", "id"),
    postgresql_with={"toast_tuple_target": "8160"},
)

page_names = scoped_table(
    "page_names",
    identifier("page_id"),
    *one_of("page_names", "kind", "title", "alias", "slug", "old_slug"),
    exact("name"),
    *one_of("page_names", "status", "active", "archived"),
    page_key("page_names"),
    key=("page_id", "kind", "name"),
)
Index("page_names_owner_ix", page_names.c.owner_id, page_names.c.name)

# The embeddings of pages and passages. Only the indexes of `cairn embeddings enable` need pgvector.
page_embeddings = scoped_table(
    "page_embeddings",
    identifier("page_id"),
    words("model"),
    number("dimensions"),
    Column("embedding", ARRAY(REAL), nullable=False),
    refers("page_embeddings", "page_id", "pages"),
    key=("page_id",),
)
Index("page_embeddings_owner_ix", page_embeddings.c.tenant_id, page_embeddings.c.owner_id, page_embeddings.c.model)

passage_embeddings = scoped_table(
    "passage_embeddings",
    identifier("source_id"),
    number("position"),
    analyser(),
    words("model"),
    number("dimensions"),
    Column("embedding", ARRAY(REAL), nullable=False),
    refers("passage_embeddings", "source_id", "sources"),
    key=("source_id", "position", "analyser"),
)
Index(
    "passage_embeddings_owner_ix",
    passage_embeddings.c.tenant_id,
    passage_embeddings.c.owner_id,
    passage_embeddings.c.model,
)

# The progress of embedding a wiki: the position of a page's change, the source, and the number of the passage index.
embedding_cursors = scoped_table(
    "embedding_cursors",
    words("model"),
    number("dimensions"),
    Column("position", BigInteger, nullable=False),
    identifier("source_id", nullable=True),
    number("analyser"),
    timestamp("updated_at"),
    key=("owner_id",),
)
