-- name: find_position
-- The position up to which everything is committed, and the cluster that it is one of; a COMMIT that does not wait for
-- the disk lies further on.
SELECT
    CASE current_setting('synchronous_commit')
        WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn()
    END AS position, system_identifier AS cluster_id
FROM pg_control_system();

-- name: find_cluster
-- The cluster that a server belongs to: the primary and its standbys have the same.
SELECT system_identifier FROM pg_control_system();

-- name: find_replayed
-- Whether the server follows another one, and the position up to which it has replayed the log of that one.
SELECT pg_is_in_recovery() AS follows, pg_last_wal_replay_lsn() AS replayed;
