-- name: make_tables
-- The places of the states of pages that are to be read.
CREATE TABLE told (
    page TEXT, version INTEGER, label TEXT, file BLOB, start INTEGER, size INTEGER, PRIMARY KEY (page, version)
) WITHOUT ROWID;

-- name: add_state
-- Add a state; of two states with the same version the first counts.
INSERT OR IGNORE INTO told VALUES (:page, :version, :label, :file, :start, :size);

-- name: list_pages
-- List the pages that have states.
SELECT DISTINCT page FROM told ORDER BY page;

-- name: list_states
-- List the states of a page, the oldest first.
SELECT label, file, start, size FROM told WHERE page = :page ORDER BY version;

-- name: count_states
-- Count the states of a page.
SELECT count(*) FROM told WHERE page = :page;

-- name: find_last_state
-- Find the newest state of a page.
SELECT label, file, start, size FROM told WHERE page = :page ORDER BY version DESC LIMIT 1;
