-- name: make_tables
-- Names that became pages, and the address of the page.
CREATE TABLE promotions (alias TEXT PRIMARY KEY, page TEXT) WITHOUT ROWID;

-- name: add
-- One name; of two lines of a name the first.
INSERT OR IGNORE INTO promotions VALUES (:alias, :page);

-- name: list
-- All of them.
SELECT alias, page FROM promotions ORDER BY alias;
