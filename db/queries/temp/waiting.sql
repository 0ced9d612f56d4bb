-- name: make_tables
-- A stack of folders that are to be read.
CREATE TABLE waiting (id INTEGER PRIMARY KEY, folder BLOB);

-- name: add_folder
-- Push a folder.
INSERT INTO waiting (folder) VALUES (:folder);

-- name: find_last
-- Find the folder on the top.
SELECT id, folder FROM waiting ORDER BY id DESC LIMIT 1;

-- name: drop_folder
-- Pop a folder.
DELETE FROM waiting WHERE id = :id;
