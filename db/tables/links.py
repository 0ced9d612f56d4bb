"""Tables of links between pages, the link targets in texts, and redirects."""

from sqlalchemy import CheckConstraint, Column, Index, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY

from .columns import identifier, listed, one_of, refers, scoped_table, timestamp, words
from .pages import PAGE_TYPES

links = scoped_table(
    "links",
    identifier("from_page_id"),
    identifier("to_page_id"),
    *one_of("links", "kind", "reference", "parent_of", "child_of"),
    listed("reasons"),
    timestamp("created_at"),
    UniqueConstraint("tenant_id", "from_page_id", "to_page_id", "kind", name="links_pair_uq"),
    refers("links", "from_page_id", "pages"),
    refers("links", "to_page_id", "pages"),
    CheckConstraint("from_page_id <> to_page_id", name="links_self_ck"),
)
Index("links_to_ix", links.c.tenant_id, links.c.to_page_id, links.c.kind, links.c.from_page_id)
Index(
    "links_owner_ix", links.c.tenant_id, links.c.owner_id, links.c.from_page_id, links.c.to_page_id, links.c.kind
)  # fmt: skip

# Every link target of a page, whether it exists or not. A row without `to_page_id` is a broken link, which is resolved
# when the page is created. `relation` says where the target is: in the text, or as `related` or `parent` in the header
# of the file from which the page was imported.
link_targets = scoped_table(
    "link_targets",
    identifier("from_page_id"),
    words("target"),
    words("space", nullable=True),
    *one_of("link_targets", "type", *PAGE_TYPES, nullable=True),
    words("slug"),
    words("alias"),
    identifier("to_page_id", nullable=True),
    words("relation", default="text"),
    words("text", nullable=True),  # the text of the link; null if the page was stored before this was recorded
    Column("section_slugs", ARRAY(Text)),  # of the sections with the link; null if unknown, and for headers
    refers("link_targets", "from_page_id", "pages"),
    refers("link_targets", "to_page_id", "pages", ondelete=None),
    key=("from_page_id", "target"),
)
Index("link_targets_to_ix", link_targets.c.tenant_id, link_targets.c.to_page_id)
for _name, _column in {"link_targets_space_ix": "slug", "link_targets_space_alias_ix": "alias"}.items():
    Index(
        _name,
        link_targets.c.tenant_id,
        link_targets.c.space,
        link_targets.c[_column],
        postgresql_where=link_targets.c.space.is_not(None),
    )
Index(
    "link_targets_unplaced_ix", link_targets.c.tenant_id, link_targets.c.owner_id, link_targets.c.from_page_id,
    postgresql_where=text("relation = 'text' AND section_slugs IS NULL"),
)  # fmt: skip
Index("link_targets_slug_ix", link_targets.c.tenant_id, link_targets.c.owner_id, link_targets.c.slug)
Index("link_targets_alias_ix", link_targets.c.tenant_id, link_targets.c.owner_id, link_targets.c.alias)

# Slugs that redirect to a page which does not exist yet. Each becomes a former slug of the page when it is created.
redirects = scoped_table(
    "redirects",
    words("slug"),
    words("path"),
    words("target"),
    words("type", nullable=True),
    words("target_slug"),
    words("target_alias"),
    key=("owner_id", "slug"),
)
Index("redirects_slug_ix", redirects.c.tenant_id, redirects.c.owner_id, redirects.c.target_slug)
Index("redirects_alias_ix", redirects.c.tenant_id, redirects.c.owner_id, redirects.c.target_alias)
