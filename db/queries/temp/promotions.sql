-- name: make_tables
-- The names of promoted mentions, with the addresses of their pages.
CREATE TABLE promotions (alias TEXT PRIMARY KEY, page TEXT) WITHOUT ROWID;

-- name: add
-- Add a name; of two lines with the same name the first counts.
INSERT OR IGNORE INTO promotions VALUES (:alias, :page);

-- name: list
-- List all names.
SELECT alias, page FROM promotions ORDER BY alias;
