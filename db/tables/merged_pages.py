"""Where the pages went that were merged into others: straight to a page that is none of them."""

from sqlalchemy import Index

from .columns import identifier, moment, refers, scoped_table

merged_pages = scoped_table(
    "merged_pages",
    identifier("page_id"),
    identifier("into_page_id"),
    moment("created_at"),
    refers("merged_pages", "page_id", "pages"),
    refers("merged_pages", "into_page_id", "pages"),
    key=("page_id",),
)
Index("merged_pages_into_ix", merged_pages.c.tenant_id, merged_pages.c.into_page_id)
