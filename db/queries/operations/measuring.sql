-- name: find_unmeasured
-- Those of these tables whose statistics attribute less than a quarter of this many rows to the owner, because they
-- were not collected, or not since. Tables that are much larger are left out, and tables in which no owner has a
-- noticeable share.
SELECT c.relname AS name FROM pg_class AS c
WHERE c.relname = ANY(CAST(:tables AS text[])) AND c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid)
  AND c.reltuples <= 1000.0 * CAST(:rows AS integer)
  AND NOT EXISTS (
      SELECT FROM pg_stats AS s
      LEFT JOIN LATERAL (
          SELECT sum(share) AS every, sum(share) FILTER (WHERE common.owner_id = CAST(:owner_id AS uuid)) AS own
          FROM unnest(CAST(CAST(s.most_common_vals AS text) AS uuid[]), s.most_common_freqs) AS common (owner_id, share)
      ) AS known ON true
      WHERE s.schemaname = CAST(CAST(c.relnamespace AS regnamespace) AS text) AND s.tablename = c.relname
        AND s.attname = 'owner_id'
        AND CASE
            WHEN known.own IS NULL THEN coalesce(known.every, 0) < 0.99
            ELSE known.own * c.reltuples >= CAST(:rows AS integer) / 4
        END
  )
ORDER BY c.relname;
