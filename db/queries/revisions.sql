-- name: find_base
-- The newest state of a page that is kept whole, and the one since then that holds these facts, if any does.
SELECT base.version, base.body_md, (
    SELECT max(told.version) FROM revisions AS told
    WHERE told.tenant_id = :tenant_id AND told.owner_id = :owner_id AND told.page_id = :page_id
      AND told.version >= base.version AND told.slug = CAST(:slug AS text)
      AND told.metadata = CAST(:metadata AS jsonb) AND told.aliases = CAST(:aliases AS text[])
) AS facts_version
FROM revisions AS base
WHERE base.tenant_id = :tenant_id AND base.owner_id = :owner_id AND base.page_id = :page_id
  AND base.base_version IS NULL
ORDER BY base.version DESC
LIMIT 1;

-- name: find_states
-- States of a page as they were, whole or put together from the bytes of their base and what is their own.
SELECT r.version, r.title, r.summary, r.tags, (
    SELECT told.metadata FROM revisions AS told
    WHERE told.tenant_id = :tenant_id AND told.owner_id = :owner_id AND told.page_id = r.page_id
      AND told.version = coalesce(r.facts_version, r.version)
) AS metadata,
    CASE WHEN r.base_version IS NULL THEN r.body_md ELSE (
        SELECT convert_from(
            string_agg(
                substring(whole.bytes FROM piece.start + 1 FOR piece.length) || convert_to(piece.own, 'UTF8'),
                CAST('' AS bytea) ORDER BY piece.n
            ),
            'UTF8'
        )
        FROM (
            SELECT convert_to(base.body_md, 'UTF8') AS bytes FROM revisions AS base
            WHERE base.tenant_id = :tenant_id AND base.owner_id = :owner_id AND base.page_id = r.page_id
              AND base.version = r.base_version
        ) AS whole
        CROSS JOIN unnest(r.base_starts, r.base_lengths, r.base_texts)
            WITH ORDINALITY AS piece (start, length, own, n)
    ) END AS body_md
FROM revisions AS r
WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = :page_id
  AND r.version = ANY(CAST(:versions AS integer[]));
