"""Where the pages went that were merged into others; of those of before, what their former slugs say."""

from alembic import op

from migrations.columns import create_scoped, moment, refers, uuid

revision = "0012"
down_revision = "0011"

MERGED_BEFORE = """
INSERT INTO merged_pages (tenant_id, owner_id, page_id, into_page_id, created_at)
SELECT p.tenant_id, p.owner_id, p.id, o.page_id, p.updated_at
FROM pages AS p
JOIN old_slugs AS o
    ON o.tenant_id = p.tenant_id AND o.owner_id = p.owner_id AND o.type = p.type
    AND o.slug = regexp_replace(p.slug, '-merged(-[0-9]+)?$', '')
WHERE p.status = 'archived' AND p.slug ~ '-merged(-[0-9]+)?$' AND o.page_id <> p.id
"""


def upgrade() -> None:
    create_scoped(
        "merged_pages",
        uuid("page_id"),
        uuid("into_page_id"),
        moment("created_at"),
        refers("merged_pages", "page_id", "pages"),
        refers("merged_pages", "into_page_id", "pages"),
        key=("page_id",),
    )
    op.create_index("merged_pages_into_ix", "merged_pages", ["tenant_id", "into_page_id"])
    op.execute(MERGED_BEFORE)


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")
