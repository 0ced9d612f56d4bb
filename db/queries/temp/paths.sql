-- name: make_tables
-- The paths that an export has given to pages, and the file of each page.
CREATE TABLE taken (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE files (
    page_id BLOB PRIMARY KEY, address TEXT UNIQUE, path TEXT, name TEXT, folder TEXT, depth INTEGER
) WITHOUT ROWID;
CREATE INDEX files_name ON files (name, depth, folder, path);

-- name: take_path
-- Take a path; no row is added if it is taken already.
INSERT OR IGNORE INTO taken VALUES (:path);

-- name: keep_file
-- Store the path of a page's file.
INSERT INTO files VALUES (:page_id, :address, :path, :name, :folder, :depth);

-- name: find_path
-- Find the path of a page's file.
SELECT path FROM files WHERE page_id = :page_id;

-- name: find_address
-- Find the path of the file of the page with this type and slug.
SELECT path FROM files WHERE address = :address;

-- name: find_near
-- Find the file with a name in this folder.
SELECT path FROM files WHERE name = :name AND folder = :folder ORDER BY path LIMIT 1;

-- name: find_anywhere
-- Find the file with a name that is nearest to the top, among those whose folders end with this folder.
SELECT path FROM files
WHERE name = :name AND (:folder = '' OR substr(folder, -length(:folder)) = :folder)
ORDER BY depth, folder, path LIMIT 1;
