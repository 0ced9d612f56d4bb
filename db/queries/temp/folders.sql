-- name: make_tables
-- The files that the previous export wrote into a folder, and those of this export.
CREATE TABLE before (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE now (path TEXT PRIMARY KEY) WITHOUT ROWID;

-- name: add_before
-- Add a file of the previous export.
INSERT OR IGNORE INTO before VALUES (:path);

-- name: add_now
-- Add a file of this export.
INSERT OR IGNORE INTO now VALUES (:path);

-- name: keep
-- Keep a file of the previous export that this export could not write again.
INSERT OR IGNORE INTO now SELECT path FROM before WHERE path = :path;

-- name: list_gone
-- The files of the previous export that this export does not have.
SELECT path FROM before WHERE path NOT IN (SELECT path FROM now) ORDER BY path;

-- name: list_now
-- The files of this export, except the list of files itself.
SELECT path FROM now WHERE path <> :list ORDER BY path;
