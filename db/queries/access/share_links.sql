-- name: add_link
-- A new link to a page, of which only the hash is kept; it ends at a moment, or after the usual time.
INSERT INTO share_links (tenant_id, owner_id, id, page_id, token_hash, author_kind, author_id, created_at, expires_at)
VALUES (
    :tenant_id, :owner_id, :id, :page_id, CAST(:token_hash AS bytea), CAST(:author_kind AS text),
    CAST(:author_id AS text), statement_timestamp(),
    coalesce(CAST(:expires_at AS timestamptz), statement_timestamp() + CAST(:usual AS interval))
)
RETURNING expires_at;

-- name: find_owner
-- In whose wiki a link was made.
SELECT owner_id FROM share_links WHERE tenant_id = :tenant_id AND id = :id;

-- name: withdraw
-- Ends a link; nothing comes back when it was withdrawn before.
UPDATE share_links SET withdrawn_at = statement_timestamp()
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND withdrawn_at IS NULL
RETURNING page_id;

-- name: find_link
-- The link with this hash, while it leads to its page.
SELECT id, owner_id, page_id FROM share_links
WHERE tenant_id = :tenant_id AND token_hash = CAST(:token_hash AS bytea)
  AND withdrawn_at IS NULL AND expires_at > statement_timestamp();
