-- name: beat
-- A sign of life, to whoever listens there.
SELECT pg_notify(CAST(:channel AS text), '');

-- name: notify
-- Tells every process some of what this transaction changed, once it commits; of a rollback nobody hears.
SELECT pg_notify('cairn_changes', :payload);

-- name: begin_history
-- From now on cursors of changes that were given out before are refused.
UPDATE installation SET history_id = CAST(:history_id AS uuid);
