-- name: examine_server
-- The server's clock, the age of its oldest transaction id, its connections, and the state of the archiver.
SELECT extract(epoch FROM clock_timestamp()) AS clock, pg_is_in_recovery() AS is_standby,
    (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()) AS transaction_age,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
    CAST(current_setting('max_connections') AS integer) AS max_connections,
    (
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND xact_start < now() - interval '10 minutes' AND pid <> pg_backend_pid()
    ) AS long_transactions,
    coalesce((
        SELECT last_failed_time > coalesce(last_archived_time, '-infinity') FROM pg_stat_archiver
    ), FALSE) AS is_archiver_failing;

-- name: find_invalid_indexes
-- Indexes that an interrupted build has left. They slow down writes, and no read uses them.
SELECT CAST(c.relname AS text) AS name FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND NOT i.indisvalid
ORDER BY c.relname;

-- name: find_bloated_tables
-- Tables with many dead rows, which are more than half of their rows.
SELECT CAST(relname AS text) AS name, n_dead_tup AS dead FROM pg_stat_user_tables
WHERE schemaname = current_schema() AND n_dead_tup > 10000 AND n_dead_tup > n_live_tup
ORDER BY relname;

-- name: find_lagging_standbys
-- Standbys that lag far behind, and inactive replication slots for which the server retains its log.
SELECT application_name AS name, 'standby' AS kind,
    CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) AS bigint) AS bytes
FROM pg_stat_replication
WHERE pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) > 100000000
UNION ALL
SELECT CAST(slot_name AS text), 'slot', CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) AS bigint)
FROM pg_replication_slots
WHERE NOT active AND restart_lsn IS NOT NULL;
