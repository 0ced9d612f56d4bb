-- name: make_tables
-- The paths that an export has given to pages, and the location of each page's file.
CREATE TABLE taken (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE files (
    page_id BLOB PRIMARY KEY, address TEXT UNIQUE, path TEXT, name TEXT, folder TEXT, depth INTEGER
) WITHOUT ROWID;
CREATE INDEX files_name ON files (name, depth, folder, path);

-- name: take_path
-- Take a path for a page. No row if it is taken.
INSERT OR IGNORE INTO taken VALUES (:path);

-- name: keep_file
-- Record the location of a page's file.
INSERT INTO files VALUES (:page_id, :address, :path, :name, :folder, :depth);

-- name: find_path
-- The path of a page's file.
SELECT path FROM files WHERE page_id = :page_id;

-- name: find_address
-- The path of the file of the page with this type and slug.
SELECT path FROM files WHERE address = :address;

-- name: find_near
-- The file with a name in this folder.
SELECT path FROM files WHERE name = :name AND folder = :folder ORDER BY path LIMIT 1;

-- name: find_anywhere
-- The file with a name whose folder ends with this path, the closest to the top first.
SELECT path FROM files
WHERE name = :name AND (:folder = '' OR substr(folder, -length(:folder)) = :folder)
ORDER BY depth, folder, path LIMIT 1;
