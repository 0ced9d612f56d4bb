-- name: make_tables
-- The files that the earlier export wrote into a folder, and the files of the current export.
CREATE TABLE before (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE now (path TEXT PRIMARY KEY) WITHOUT ROWID;

-- name: add_before
-- Add a file of the earlier export.
INSERT OR IGNORE INTO before VALUES (:path);

-- name: add_now
-- Add a file of the current export.
INSERT OR IGNORE INTO now VALUES (:path);

-- name: keep
-- Keep a file of the earlier export that the current export could not write.
INSERT OR IGNORE INTO now SELECT path FROM before WHERE path = :path;

-- name: list_gone
-- List the files that only the earlier export has.
SELECT path FROM before WHERE path NOT IN (SELECT path FROM now) ORDER BY path;

-- name: list_now
-- List the files of the current export, except the list of files itself.
SELECT path FROM now WHERE path <> :list ORDER BY path;
