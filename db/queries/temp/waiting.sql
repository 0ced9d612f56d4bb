-- name: make_tables
-- Folders that are still to be read.
CREATE TABLE waiting (id INTEGER PRIMARY KEY, folder BLOB);

-- name: add_folder
-- Add a folder.
INSERT INTO waiting (folder) VALUES (:folder);

-- name: find_last
-- The folder that was added last.
SELECT id, folder FROM waiting ORDER BY id DESC LIMIT 1;

-- name: drop_folder
-- Remove a folder.
DELETE FROM waiting WHERE id = :id;
