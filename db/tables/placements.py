"""Where pages are listed: the names of parents that their evidence gives, and the section that grew from them."""

from sqlalchemy import Column, Index, text
from sqlalchemy import Boolean

from .columns import identifier, listed, refers, scoped_table, words

# A row without `parent_page_id` waits for a page of that name.
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
"""`kind` is the section of a topic that lists such pages; a page that grew out of it has `section_slug`s of its own."""
Index(
    "placements_waiting_ix", placements.c.tenant_id, placements.c.owner_id, placements.c.alias, placements.c.page_id,
    postgresql_where=text("parent_page_id IS NULL"),
)  # fmt: skip
Index(
    "placements_listed_ix", placements.c.tenant_id, placements.c.parent_page_id, placements.c.section_slug,
    placements.c.page_id,
)  # fmt: skip
