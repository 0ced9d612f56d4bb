-- name: beat
-- A sign of life, to whoever listens there.
SELECT pg_notify(CAST(:channel AS text), '');

-- name: notify
-- Tells every process what this transaction changed, in order, once it commits; of a rollback nobody hears.
SELECT count(pg_notify('cairn_changes', told.payload)) FROM unnest(CAST(:payloads AS text[])) AS told (payload);
