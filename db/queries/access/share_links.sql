-- name: add_link
-- Insert a share link to a page, with the hash of its token. It expires at the given time, or after the default one.
INSERT INTO share_links (tenant_id, owner_id, id, page_id, token_hash, author_kind, author_id, created_at, expires_at)
VALUES (
    :tenant_id, :owner_id, :id, :page_id, CAST(:token_hash AS bytea), CAST(:author_kind AS text),
    CAST(:author_id AS text), statement_timestamp(),
    coalesce(CAST(:expires_at AS timestamptz), statement_timestamp() + CAST(:usual AS interval))
)
RETURNING expires_at;

-- name: find_owner
-- Return the owner of a share link.
SELECT owner_id FROM share_links WHERE tenant_id = :tenant_id AND id = :id;

-- name: withdraw
-- Withdraw a share link. Return no row if it was withdrawn before.
UPDATE share_links SET withdrawn_at = statement_timestamp()
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND withdrawn_at IS NULL
RETURNING page_id;

-- name: find_link
-- Return the share link with a hash, unless it is withdrawn or expired.
SELECT id, owner_id, page_id FROM share_links
WHERE tenant_id = :tenant_id AND token_hash = CAST(:token_hash AS bytea)
  AND withdrawn_at IS NULL AND expires_at > statement_timestamp();
