-- name: make_tables
-- Where each state of a page waits to be read.
CREATE TABLE told (
    page TEXT, version INTEGER, label TEXT, file BLOB, start INTEGER, size INTEGER, PRIMARY KEY (page, version)
) WITHOUT ROWID;

-- name: add_state
-- One state; of two that claim to be the same version the first.
INSERT OR IGNORE INTO told VALUES (:page, :version, :label, :file, :start, :size);

-- name: list_pages
-- The pages that have any.
SELECT DISTINCT page FROM told ORDER BY page;

-- name: list_states
-- Those of a page, oldest first.
SELECT label, file, start, size FROM told WHERE page = :page ORDER BY version;

-- name: count_states
-- How many a page has.
SELECT count(*) FROM told WHERE page = :page;

-- name: find_last_state
-- The newest of a page.
SELECT label, file, start, size FROM told WHERE page = :page ORDER BY version DESC LIMIT 1;
