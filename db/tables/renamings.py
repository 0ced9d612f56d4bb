"""Renames whose new name is still to be put into texts: a row goes with the last of them."""

from sqlalchemy import Index

from .columns import identifier, moment, number, refers, scoped_table, words

renamings = scoped_table(
    "renamings",
    identifier("page_id"),
    words("slug"),
    words("title"),
    identifier("reached_id"),
    number("remaining"),
    words("actor_kind"),
    words("actor_id"),
    moment("created_at"),
    refers("renamings", "page_id", "pages"),
)
"""`slug` and `title` are the old ones. Texts are taken by the ids of their pages, up to `reached_id` so far."""
Index("renamings_page_ix", renamings.c.tenant_id, renamings.c.page_id)
