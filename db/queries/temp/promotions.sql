-- name: make_tables
-- Names that were promoted to pages, with the address of the page.
CREATE TABLE promotions (alias TEXT PRIMARY KEY, page TEXT) WITHOUT ROWID;

-- name: add
-- Add a name. Of two lines with the same name, the first is kept.
INSERT OR IGNORE INTO promotions VALUES (:alias, :page);

-- name: list
-- All names.
SELECT alias, page FROM promotions ORDER BY alias;
