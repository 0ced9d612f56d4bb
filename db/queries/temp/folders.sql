-- name: make_tables
-- The files that the earlier export wrote into a folder, and those that this one has.
CREATE TABLE before (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE now (path TEXT PRIMARY KEY) WITHOUT ROWID;

-- name: add_before
-- A file of the earlier export.
INSERT OR IGNORE INTO before VALUES (:path);

-- name: add_now
-- A file of this one.
INSERT OR IGNORE INTO now VALUES (:path);

-- name: keep
-- A file of the earlier one that this one could not write again.
INSERT OR IGNORE INTO now SELECT path FROM before WHERE path = :path;

-- name: list_gone
-- What the earlier one had and this one has not.
SELECT path FROM before WHERE path NOT IN (SELECT path FROM now) ORDER BY path;

-- name: list_now
-- What this one has, but for the file that lists it.
SELECT path FROM now WHERE path <> :list ORDER BY path;
