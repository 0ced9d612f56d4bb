-- name: make_tables
-- The paths that an export has given to pages.
CREATE TABLE taken (path TEXT PRIMARY KEY) WITHOUT ROWID;

-- name: take_path
-- No row where somebody has it.
INSERT OR IGNORE INTO taken VALUES (:path);
