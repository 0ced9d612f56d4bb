-- name: find_bases
-- Return the newest revision of each page that is stored whole, and the newest version since then that stores the given
-- slug, metadata and aliases, if there is one.
SELECT base.page_id, base.version, base.body_md, (
    SELECT max(told.version) FROM revisions AS told
    WHERE told.tenant_id = :tenant_id AND told.owner_id = :owner_id AND told.page_id = base.page_id
      AND told.version >= base.version AND told.slug = given.slug AND told.metadata = given.metadata
      AND told.aliases = given.aliases AND told.erased_at IS NULL
) AS facts_version
FROM jsonb_to_recordset(CAST(:pages AS jsonb)) AS given (page_id uuid, slug text, metadata jsonb, aliases text[])
CROSS JOIN LATERAL (
    SELECT r.page_id, r.version, r.body_md FROM revisions AS r
    WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = given.page_id
      AND r.base_version IS NULL AND r.erased_at IS NULL
    ORDER BY r.version DESC
    LIMIT 1
) AS base;

-- name: find_states
-- Return revisions of a page, the oldest first. A text that is stored as a difference is put together from the bytes of
-- its base and its own pieces.
SELECT r.version, r.title, r.summary, r.tags, r.edit_summary, r.author_kind, r.author_id, r.created_at, r.erased_at,
    told.slug, told.metadata, told.aliases,
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
            WHERE base.tenant_id = :tenant_id AND base.owner_id = :owner_id AND base.page_id = :page_id
              AND base.version = r.base_version
        ) AS whole
        CROSS JOIN unnest(r.base_starts, r.base_lengths, r.base_texts)
            WITH ORDINALITY AS piece (start, length, own, n)
    ) END AS body_md
FROM revisions AS r
LEFT JOIN revisions AS told
    ON told.tenant_id = :tenant_id AND told.owner_id = :owner_id AND told.page_id = :page_id
    AND told.version = coalesce(r.facts_version, r.version)
WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = :page_id
  AND r.version = ANY(CAST(:versions AS integer[]))
ORDER BY r.version;

