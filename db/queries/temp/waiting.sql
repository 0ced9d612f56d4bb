-- name: make_tables
-- Folders that are still to be looked into.
CREATE TABLE waiting (id INTEGER PRIMARY KEY, folder BLOB);

-- name: add_folder
-- One more.
INSERT INTO waiting (folder) VALUES (:folder);

-- name: find_last
-- The one that came last.
SELECT id, folder FROM waiting ORDER BY id DESC LIMIT 1;

-- name: drop_folder
-- It waits no longer.
DELETE FROM waiting WHERE id = :id;
