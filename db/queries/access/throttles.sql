-- name: lease_tokens
-- Take the owed tokens from a bucket, and then up to the wanted tokens of the rest. A new bucket is full. A time that is
-- ahead by more than a statement can wait for the row is of a clock that was wrong.
INSERT INTO throttles AS t (tenant_id, subject, tokens, leased, at)
VALUES (
    CAST(:tenant_id AS uuid),
    CAST(:subject AS text),
    CAST(:burst AS double precision) - CAST(:owed AS double precision)
    - greatest(0, least(
        CAST(:wanted AS double precision), CAST(:burst AS double precision) - CAST(:owed AS double precision)
    )),
    greatest(0, least(
        CAST(:wanted AS double precision), CAST(:burst AS double precision) - CAST(:owed AS double precision)
    )),
    CAST(extract(epoch FROM clock_timestamp()) AS double precision)
)
ON CONFLICT (tenant_id, subject) DO UPDATE SET
    tokens = least(
        CAST(:burst AS double precision),
        t.tokens + greatest(0, excluded.at - t.at) * CAST(:per_second AS double precision)
    ) - CAST(:owed AS double precision)
    - greatest(0, least(
        CAST(:wanted AS double precision),
        least(
            CAST(:burst AS double precision),
            t.tokens + greatest(0, excluded.at - t.at) * CAST(:per_second AS double precision)
        ) - CAST(:owed AS double precision)
    )),
    leased = greatest(0, least(
        CAST(:wanted AS double precision),
        least(
            CAST(:burst AS double precision),
            t.tokens + greatest(0, excluded.at - t.at) * CAST(:per_second AS double precision)
        ) - CAST(:owed AS double precision)
    )),
    at = CASE WHEN t.at > excluded.at + 10 THEN excluded.at ELSE greatest(excluded.at, t.at) END
RETURNING tokens, leased;

-- name: forget_full
-- Delete the buckets of credentials that are full again, because a missing bucket counts as full.
DELETE FROM throttles
WHERE tenant_id = CAST(:tenant_id AS uuid)
    AND subject <> ''
    AND at + (CAST(:burst AS double precision) - tokens) / CAST(:per_second AS double precision)
    < CAST(extract(epoch FROM now()) AS double precision);
