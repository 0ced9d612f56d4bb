-- name: beat
-- A sign of life, to whoever listens there.
SELECT pg_notify(CAST(:channel AS text), '');

-- name: notify
-- Tells every process some of what this transaction changed, once it commits; of a rollback nobody hears.
SELECT pg_notify('cairn_changes', :payload);
