-- name: add_authorization
-- Add an authorization of a program, with the code by which it fetches its first tokens.
INSERT INTO oauth_authorizations (
    tenant_id, owner_id, id, client_hash, client_name, role, author, scopes, resource, redirect_uri,
    redirect_is_given, code_hash, code_challenge, code_expires_at, created_at, expires_at
)
VALUES (
    :tenant_id, :owner_id, :id, CAST(:client_hash AS bytea), CAST(:client_name AS text), CAST(:role AS text),
    CAST(:author AS text), CAST(:scopes AS text[]), CAST(:resource AS text), CAST(:redirect_uri AS text),
    CAST(:redirect_is_given AS boolean), CAST(:code_hash AS bytea), CAST(:code_challenge AS text),
    statement_timestamp() + CAST(:code_ttl AS interval), statement_timestamp(),
    statement_timestamp() + CAST(:longest AS interval)
);

-- name: find_by_code
-- Find the authorization of a code, redeemed or not, with the remaining lifetimes of both.
SELECT *, code_expires_at - statement_timestamp() AS code_expires_in, expires_at - statement_timestamp() AS expires_in
FROM oauth_authorizations
WHERE tenant_id = :tenant_id AND code_hash = CAST(:code_hash AS bytea) AND withdrawn_at IS NULL;

-- name: redeem_code
-- Store the first refresh token for a code; no row is returned if the code was redeemed before.
UPDATE oauth_authorizations
SET redeemed_at = statement_timestamp(), used_at = statement_timestamp(),
    refresh_hash = CAST(:refresh_hash AS bytea)
WHERE tenant_id = :tenant_id AND id = :id AND redeemed_at IS NULL AND withdrawn_at IS NULL
  AND code_expires_at > statement_timestamp()
RETURNING id;

-- name: find_by_refresh_token
-- Find the authorization of a refresh token, or of a former one that was replaced, with its remaining lifetime.
SELECT *, code_expires_at - statement_timestamp() AS code_expires_in, expires_at - statement_timestamp() AS expires_in,
    refresh_hash = CAST(:refresh_hash AS bytea) AS is_current
FROM oauth_authorizations
WHERE tenant_id = :tenant_id AND withdrawn_at IS NULL
  AND (refresh_hash = CAST(:refresh_hash AS bytea) OR former_hash = CAST(:refresh_hash AS bytea));

-- name: rotate_refresh_token
-- Replace a refresh token; no row is returned if it was replaced before, or the authorization has ended.
UPDATE oauth_authorizations
SET former_hash = refresh_hash, refresh_hash = CAST(:next_hash AS bytea), used_at = statement_timestamp()
WHERE tenant_id = :tenant_id AND id = :id AND refresh_hash = CAST(:refresh_hash AS bytea)
  AND withdrawn_at IS NULL AND expires_at > statement_timestamp()
RETURNING id;

-- name: withdraw_authorization
-- End an authorization; no row is returned if it was withdrawn before, or is of another wiki.
UPDATE oauth_authorizations SET withdrawn_at = statement_timestamp()
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND withdrawn_at IS NULL
RETURNING id;

-- name: list_authorizations
-- List the programs that are connected to a wiki and may still get tokens, the newest first.
SELECT id, client_name, redirect_uri, role, created_at, used_at, expires_at FROM oauth_authorizations
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND withdrawn_at IS NULL AND redeemed_at IS NOT NULL
  AND expires_at > statement_timestamp()
ORDER BY id DESC
LIMIT CAST(:limit AS integer);

-- name: delete_ended
-- Delete the authorizations of a wiki that were not redeemed in time, were withdrawn, or have expired.
DELETE FROM oauth_authorizations
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND (
    withdrawn_at IS NOT NULL OR expires_at <= statement_timestamp()
    OR (redeemed_at IS NULL AND code_expires_at <= statement_timestamp())
);
