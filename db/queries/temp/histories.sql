-- name: make_tables
-- The states of pages in an imported history, with the place where each can be read.
CREATE TABLE told (
    page TEXT, version INTEGER, label TEXT, file BLOB, start INTEGER, size INTEGER, PRIMARY KEY (page, version)
) WITHOUT ROWID;

-- name: add_state
-- Add a state. Of two states with the same version, the first is kept.
INSERT OR IGNORE INTO told VALUES (:page, :version, :label, :file, :start, :size);

-- name: list_pages
-- The pages that have states.
SELECT DISTINCT page FROM told ORDER BY page;

-- name: list_states
-- The states of a page, oldest first.
SELECT label, file, start, size FROM told WHERE page = :page ORDER BY version;

-- name: count_states
-- The number of states of a page.
SELECT count(*) FROM told WHERE page = :page;

-- name: find_last_state
-- The newest state of a page.
SELECT label, file, start, size FROM told WHERE page = :page ORDER BY version DESC LIMIT 1;
