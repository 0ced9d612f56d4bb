-- name: find_position
-- The position of the log up to which all commits are flushed, and the system identifier of the cluster. A COMMIT that
-- does not wait for the disk is after it.
SELECT
    CASE current_setting('synchronous_commit')
        WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn()
    END AS position, system_identifier AS cluster_id
FROM pg_control_system();

-- name: find_cluster
-- The system identifier of the server's cluster, which a primary and its standbys share.
SELECT system_identifier FROM pg_control_system();

-- name: find_replayed
-- Whether the server is a standby, and the position up to which it has replayed the log of its primary.
SELECT pg_is_in_recovery() AS follows, pg_last_wal_replay_lsn() AS replayed;
