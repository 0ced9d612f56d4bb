-- name: make_tables
-- The paths that an export has given to pages and where each page's file lies.
CREATE TABLE taken (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE files (
    page_id BLOB PRIMARY KEY, address TEXT UNIQUE, path TEXT, name TEXT, folder TEXT, depth INTEGER
) WITHOUT ROWID;
CREATE INDEX files_name ON files (name, depth, folder, path);

-- name: take_path
-- No row where somebody has it.
INSERT OR IGNORE INTO taken VALUES (:path);

-- name: keep_file
-- Where the file of a page lies.
INSERT INTO files VALUES (:page_id, :address, :path, :name, :folder, :depth);

-- name: find_path
-- The path of a page's file.
SELECT path FROM files WHERE page_id = :page_id;

-- name: find_address
-- The path of the file of the page with this type and slug.
SELECT path FROM files WHERE address = :address;

-- name: find_near
-- The file of a name in this very folder.
SELECT path FROM files WHERE name = :name AND folder = :folder ORDER BY path LIMIT 1;

-- name: find_anywhere
-- The file of a name that is nearest to the top, of those whose folders end like this.
SELECT path FROM files
WHERE name = :name AND (:folder = '' OR substr(folder, -length(:folder)) = :folder)
ORDER BY depth, folder, path LIMIT 1;
