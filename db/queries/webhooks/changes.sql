-- name: beat
-- Send a notification, by which a listener checks that notifications arrive.
SELECT pg_notify(CAST(:channel AS text), '');

-- name: notify
-- Notify every process of some of the changes of this transaction, when it commits.
SELECT pg_notify('cairn_changes', :payload);

-- name: begin_history
-- Give the database a new history id, so that older cursors of changes are refused.
UPDATE installation SET history_id = CAST(:history_id AS uuid);
