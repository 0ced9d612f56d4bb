-- name: add_link
-- Add a link to a page, of which only the hash is stored. It expires at a given time, or after the default time.
INSERT INTO share_links (tenant_id, owner_id, id, page_id, token_hash, author_kind, author_id, created_at, expires_at)
VALUES (
    :tenant_id, :owner_id, :id, :page_id, CAST(:token_hash AS bytea), CAST(:author_kind AS text),
    CAST(:author_id AS text), statement_timestamp(),
    coalesce(CAST(:expires_at AS timestamptz), statement_timestamp() + CAST(:usual AS interval))
)
RETURNING expires_at;

-- name: find_owner
-- The owner of the wiki of a link.
SELECT owner_id FROM share_links WHERE tenant_id = :tenant_id AND id = :id;

-- name: withdraw
-- Withdraw a link. No row if it was withdrawn before.
UPDATE share_links SET withdrawn_at = statement_timestamp()
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND withdrawn_at IS NULL
RETURNING page_id;

-- name: find_link
-- The link with this hash, if it is valid.
SELECT id, owner_id, page_id FROM share_links
WHERE tenant_id = :tenant_id AND token_hash = CAST(:token_hash AS bytea)
  AND withdrawn_at IS NULL AND expires_at > statement_timestamp();
