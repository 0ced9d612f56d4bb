-- name: wants_proposals
-- Return whether any webhook of the tenant names a kind of proposal event for this wiki.
SELECT EXISTS (
    SELECT FROM webhooks AS w
    WHERE w.tenant_id = CAST(:tenant_id AS uuid) AND w.disabled_at IS NULL
      AND (w.owner_ids = '{}' OR CAST(:owner_id AS uuid) = ANY(w.owner_ids))
      AND CAST(:kind AS text) = ANY(w.kinds)
);

-- name: queue_deliveries
-- Queue the changes of a write for all webhooks of the tenant that subscribe to them, in the transaction of the write.
-- Webhooks are locked against deletion first. A deleted page is described by the given values, and so is a page that
-- became more sensitive, for webhooks whose ceiling is below its `hidden_level` now. A change of the whole wiki goes to
-- webhooks of all page types, and a `resync` also to those of all kinds of changes. Events of proposals go only to
-- webhooks that name them: no kinds means all changes of pages.
WITH wanting AS MATERIALIZED (
    SELECT w.id, w.kinds, w.types,
           array_position(ARRAY['public', 'internal', 'confidential', 'secret'], w.ceiling) AS ceiling
    FROM webhooks AS w
    WHERE w.tenant_id = CAST(:tenant_id AS uuid) AND w.disabled_at IS NULL
      AND (w.owner_ids = '{}' OR CAST(:owner_id AS uuid) = ANY(w.owner_ids))
    FOR KEY SHARE
), changed AS (
    SELECT given.place, given.kind, given.page_id, given.version,
           coalesce(p.type, given.type) AS page_type, coalesce(p.slug, given.slug) AS slug,
           given.proposal_id, given.operation, given.significance, given.author_kind, given.author_id,
           CASE
               WHEN given.proposal_id IS NOT NULL
               THEN array_position(ARRAY['public', 'internal', 'confidential', 'secret'], given.level)
               WHEN given.page_id IS NULL OR (p.id IS NOT NULL AND coalesce(p.metadata ->> 'sensitivity', '') = '')
               THEN 2
               ELSE coalesce(array_position(
                   ARRAY['public', 'internal', 'confidential', 'secret'],
                   lower(coalesce(p.metadata ->> 'sensitivity', given.level))
               ), 4)
           END AS level,
           array_position(ARRAY['public', 'internal', 'confidential', 'secret'], given.hidden_level) AS hidden_level
    FROM jsonb_to_recordset(CAST(:changes AS jsonb)) AS given (
        place bigint, kind text, page_id uuid, version integer, type text, slug text, level text, hidden_level text,
        proposal_id uuid, operation text, significance text, author_kind text, author_id text
    )
    LEFT JOIN pages AS p
        ON p.tenant_id = CAST(:tenant_id AS uuid) AND p.owner_id = CAST(:owner_id AS uuid) AND p.id = given.page_id
        AND given.hidden_level IS NULL
), told AS (
    SELECT w.id AS webhook_id, changed.*, row_number() OVER (PARTITION BY w.id ORDER BY changed.place) AS rank,
           row_number() OVER (ORDER BY w.id, changed.place) AS number
    FROM wanting AS w
    JOIN changed
        ON changed.level <= w.ceiling AND coalesce(changed.hidden_level > w.ceiling, TRUE)
        AND (
            changed.kind = ANY(w.kinds) OR (w.kinds = '{}' AND changed.proposal_id IS NULL)
            OR (changed.kind = 'resync' AND NOT w.kinds <@ CAST(:proposal_kinds AS text[]))
        )
        AND (
            w.types = '{}' OR changed.page_type = ANY(w.types)
            OR (changed.page_id IS NULL AND changed.page_type IS NULL AND changed.kind <> 'evidence')
        )
), queued AS (
    INSERT INTO webhook_queues AS q (tenant_id, owner_id, webhook_id, last_position, due_at)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), told.webhook_id, count(*), statement_timestamp()
    FROM told
    GROUP BY told.webhook_id
    ON CONFLICT (tenant_id, owner_id, webhook_id) DO UPDATE
    SET last_position = q.last_position + excluded.last_position, due_at = coalesce(q.due_at, excluded.due_at)
    RETURNING webhook_id, last_position
)
INSERT INTO webhook_deliveries (
    tenant_id, owner_id, id, webhook_id, position, kind, page_id, page_type, slug, version, proposal_id, operation,
    significance, author_kind, author_id, happened_at, retry_until
)
SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid),
       CAST(CAST(:id_start AS text) || lpad(to_hex(CAST(:id_number AS bigint) + told.number), 12, '0') AS uuid),
       told.webhook_id, queued.last_position - max(told.rank) OVER (PARTITION BY told.webhook_id) + told.rank, told.kind,
       told.page_id, told.page_type, told.slug, told.version, told.proposal_id, told.operation, told.significance,
       told.author_kind, told.author_id, CAST(:now AS timestamptz),
       statement_timestamp() + CAST(:retried_for AS interval)
FROM told
JOIN queued ON queued.webhook_id = told.webhook_id;
