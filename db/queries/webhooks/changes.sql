-- name: beat
-- Send a heartbeat to the listeners of a channel.
SELECT pg_notify(CAST(:channel AS text), '');

-- name: notify
-- Notify every process of some changes of this transaction when it commits; a rollback sends nothing.
SELECT pg_notify('cairn_changes', :payload);

-- name: begin_history
-- Begin a new history, so that cursors of changes that were issued before are refused.
UPDATE installation SET history_id = CAST(:history_id AS uuid);
