"""Tables of pages and everything that belongs to a page."""

from sqlalchemy import (
    ARRAY,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
    func,
    text,
)

from .columns import document, identifier, in_scope_key, listed, number, one_of, refers, scoped_table, timestamp, words

PAGE_TYPES = (
    "entity", "topic", "decision", "concept", "project", "reference", "theme", "context", "standard", "product",
    "source",
)  # fmt: skip

pages = scoped_table(
    "pages",
    *one_of("pages", "type", *PAGE_TYPES),
    words("slug"),
    words("title"),
    words("summary", nullable=True),
    words("body_md"),
    *one_of("pages", "status", "active", "archived", default="active"),
    listed("tags"),
    identifier("parent_page_id", nullable=True),
    number("hubness_score", default=0),
    number("version", default=1),
    document("metadata"),
    timestamp("last_compiled_at", nullable=True),
    timestamp("created_at"),
    timestamp("updated_at"),
    Column("was_merged", Boolean, nullable=False, server_default=text("false")),
    in_scope_key("pages"),
    UniqueConstraint("tenant_id", "owner_id", "type", "slug", name="pages_slug_uq"),
    refers("pages", "parent_page_id", "pages", ondelete=None),
    CheckConstraint("parent_page_id IS DISTINCT FROM id", name="pages_parent_ck"),
)
Index("pages_parent_ix", pages.c.tenant_id, pages.c.parent_page_id, postgresql_where=text("parent_page_id IS NOT NULL"))
Index("pages_slug_ix", pages.c.tenant_id, pages.c.owner_id, pages.c.slug)
# Lists of pages select one status. With the status in the index, archived pages do not slow down lists of active ones.
LISTED = (pages.c.tenant_id, pages.c.owner_id, pages.c.status)
Index("pages_hubness_ix", *LISTED, pages.c.hubness_score.desc(), pages.c.id.desc())
Index("pages_updated_ix", *LISTED, pages.c.updated_at.desc(), pages.c.id.desc())
Index("pages_lower_title_ix", *LISTED, func.lower(pages.c.title), pages.c.id)
Index("pages_tags_ix", pages.c.tenant_id, pages.c.owner_id, pages.c.tags, postgresql_using="gin")

Index(
    "pages_sensitive_ix", pages.c.tenant_id, pages.c.owner_id,
    postgresql_where=text("lower(metadata ->> 'sensitivity') NOT IN ('', 'public', 'internal')"),
)  # fmt: skip

sections = scoped_table(
    "sections",
    identifier("page_id"),
    words("section_slug"),
    words("heading"),
    words("body_md"),
    number("position"),
    timestamp("last_source_at", nullable=True),
    document("aggregation", nullable=True),
    identifier("promoted_page_id", nullable=True),
    timestamp("created_at"),
    timestamp("updated_at"),
    Column("supported_at", ARRAY(DateTime(timezone=True)), nullable=True),
    in_scope_key("sections"),
    UniqueConstraint("tenant_id", "page_id", "section_slug", name="sections_slug_uq"),
    UniqueConstraint("tenant_id", "owner_id", "page_id", "id", name="sections_page_uq"),
    refers("sections", "page_id", "pages"),
    refers("sections", "promoted_page_id", "pages", ondelete=None),
)
Index("sections_position_ix", sections.c.tenant_id, sections.c.page_id, sections.c.position, sections.c.id)
Index(
    "sections_sensitive_ix", sections.c.tenant_id, sections.c.owner_id,
    postgresql_where=text("strpos(lower(heading), '{sensitivity=') > 0"),
)  # fmt: skip
Index(
    "sections_promoted_ix", sections.c.tenant_id, sections.c.promoted_page_id,
    postgresql_where=text("promoted_page_id IS NOT NULL"),
)  # fmt: skip

aliases = scoped_table(
    "aliases",
    identifier("page_id"),
    words("alias"),
    words("name"),
    *one_of("aliases", "source", "compiler", "manual", "import"),
    timestamp("created_at"),
    UniqueConstraint("tenant_id", "page_id", "alias", name="aliases_alias_uq"),
    refers("aliases", "page_id", "pages"),
)
Index("aliases_name_ix", aliases.c.tenant_id, aliases.c.owner_id, aliases.c.alias)
Index(
    "aliases_likeness_ix", aliases.c.tenant_id, aliases.c.owner_id, aliases.c.alias,
    postgresql_using="gin", postgresql_ops={"alias": "gin_trgm_ops"},
)  # fmt: skip

old_slugs = scoped_table(
    "old_slugs",
    *one_of("old_slugs", "type", *PAGE_TYPES),
    words("slug"),
    identifier("page_id"),
    timestamp("created_at"),
    refers("old_slugs", "page_id", "pages"),
    key=("owner_id", "type", "slug"),
)
Index("old_slugs_page_ix", old_slugs.c.tenant_id, old_slugs.c.page_id)

# A text is stored whole, or as a difference from `base_version`: docs/decisions/0013-revisions-as-differences.md. Slug,
# metadata and aliases are stored here, or in the earlier `facts_version` if they are the same. Old revisions lack them.
revisions = scoped_table(
    "revisions",
    identifier("page_id"),
    number("version"),
    words("title"),
    words("summary", nullable=True),
    words("body_md"),
    listed("tags"),
    words("edit_summary", nullable=True),
    *one_of("revisions", "author_kind", "agent", "user", "compiler", "service"),
    words("author_id"),
    timestamp("created_at"),
    number("base_version", nullable=True),
    Column("base_starts", ARRAY(Integer)),
    Column("base_lengths", ARRAY(Integer)),
    Column("base_texts", ARRAY(Text)),
    words("slug", nullable=True),
    document("metadata", nullable=True),
    Column("aliases", ARRAY(Text)),
    number("facts_version", nullable=True),
    timestamp("erased_at", nullable=True),
    UniqueConstraint("tenant_id", "page_id", "version", name="revisions_version_uq"),
    refers("revisions", "page_id", "pages"),
)

section_sources = scoped_table(
    "section_sources",
    identifier("page_id"),
    identifier("section_id"),
    identifier("source_id"),
    number("line_start", nullable=True),
    number("line_end", nullable=True),
    words("summary", nullable=True),
    timestamp("created_at"),
    UniqueConstraint("tenant_id", "section_id", "source_id", name="section_sources_cited_uq"),
    refers("section_sources", "source_id", "sources"),
    ForeignKeyConstraint(
        ["tenant_id", "owner_id", "page_id", "section_id"],
        ["sections.tenant_id", "sections.owner_id", "sections.page_id", "sections.id"],
        name="section_sources_section_fk",
        ondelete="CASCADE",
    ),
    CheckConstraint("line_start >= 1 AND line_end >= line_start", name="section_sources_lines_ck"),
)
Index("section_sources_page_ix", section_sources.c.tenant_id, section_sources.c.page_id, section_sources.c.source_id)
Index(
    "section_sources_source_ix", section_sources.c.tenant_id, section_sources.c.source_id, section_sources.c.section_id
)

# The file from which a page was imported, and digests of the page at that time. While the page has not changed, an
# export writes the file itself. The text of the page begins at the byte `body_start` of the file, if that is known. If
# `is_respelled`, links in the text are written differently than in the file.
originals = scoped_table(
    "originals",
    identifier("page_id"),
    Column("file", LargeBinary, nullable=False),
    number("body_start", nullable=True),
    Column("is_respelled", Boolean, nullable=False),
    words("format"),
    words("fields_hash"),
    words("body_hash"),
    refers("originals", "page_id", "pages"),
    key=("page_id",),
)


merged_pages = scoped_table(
    "merged_pages",
    identifier("page_id"),
    identifier("into_page_id"),
    timestamp("created_at"),
    refers("merged_pages", "page_id", "pages"),
    refers("merged_pages", "into_page_id", "pages"),
    key=("page_id",),
)
Index("merged_pages_into_ix", merged_pages.c.tenant_id, merged_pages.c.into_page_id)


page_positions = scoped_table(
    "page_positions",
    identifier("page_id"),
    number("position"),
    timestamp("changed_at"),
    words("deleted_sensitivity", nullable=True),
    key=("page_id",),
)
"""A deleted page keeps its row: its deletion is its last change, which callers see who could read the page.

`deleted_sensitivity` is the least sensitive level that a page had when it was deleted or its level changed: callers who
could read that level, but not the page, see the page as deleted.
"""
Index(
    "page_positions_order_ix", page_positions.c.tenant_id, page_positions.c.owner_id, page_positions.c.position,
    unique=True,
)  # fmt: skip


renamings = scoped_table(
    "renamings",
    identifier("page_id"),
    words("slug"),
    words("title"),
    identifier("reached_id"),
    number("remaining"),
    words("actor_kind"),
    words("actor_id"),
    timestamp("created_at"),
    refers("renamings", "page_id", "pages"),
)
"""`slug` and `title` are the old ones. Texts that link to the page are rewritten by page id, so far to `reached_id`."""
Index("renamings_page_ix", renamings.c.tenant_id, renamings.c.page_id)


# The lists in which a page is placed. A row without `parent_page_id` waits for a page with this name.
placements = scoped_table(
    "placements",
    identifier("page_id"),
    words("alias"),
    words("name"),
    listed("bases"),
    words("kind"),
    listed("tags"),
    identifier("parent_page_id", nullable=True),
    words("section_slug", nullable=True),
    Column("is_delegated", Boolean, nullable=False, server_default=text("false")),
    refers("placements", "page_id", "pages"),
    refers("placements", "parent_page_id", "pages"),
    key=("owner_id", "page_id", "alias"),
)
"""`kind` is the section of a topic that lists such pages. A page promoted from it has its own `section_slug`s."""
Index(
    "placements_waiting_ix", placements.c.tenant_id, placements.c.owner_id, placements.c.alias, placements.c.page_id,
    postgresql_where=text("parent_page_id IS NULL"),
)  # fmt: skip
Index(
    "placements_listed_ix", placements.c.tenant_id, placements.c.parent_page_id, placements.c.section_slug,
    placements.c.page_id,
)  # fmt: skip


# Share links: anyone with the link may read the page without a credential, until the link expires or is withdrawn.
share_links = scoped_table(
    "share_links",
    identifier("page_id"),
    Column("token_hash", LargeBinary, nullable=False, comment="SHA-256 of the link; it is never stored"),
    *one_of("share_links", "author_kind", "agent", "user", "compiler", "service"),
    words("author_id"),
    timestamp("created_at"),
    timestamp("expires_at"),
    timestamp("withdrawn_at", nullable=True),
    refers("share_links", "page_id", "pages"),
)
Index("share_links_token_uq", share_links.c.tenant_id, share_links.c.token_hash, unique=True)
Index("share_links_owner_ix", share_links.c.tenant_id, share_links.c.owner_id, share_links.c.id.desc())
Index("share_links_page_ix", share_links.c.tenant_id, share_links.c.page_id, share_links.c.id.desc())
