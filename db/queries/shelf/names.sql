-- name: make_tables
-- The files of notes by name and folder, and the slugs by which a link may mean a note. `placed` is that of places.sql.
CREATE TABLE files (found INTEGER PRIMARY KEY, name TEXT, folder TEXT, depth INTEGER);
CREATE INDEX files_name ON files (name, depth, folder, found);
CREATE INDEX files_folder ON files (name, folder, found);
CREATE TABLE claims (slug TEXT, found INTEGER, PRIMARY KEY (slug, found)) WITHOUT ROWID;

-- name: add_file
-- The file of a note.
INSERT INTO files VALUES (:id, :name, :folder, :depth);

-- name: add_claim
-- A slug that a note goes by.
INSERT OR IGNORE INTO claims VALUES (:slug, :id);

-- name: find_shared
-- Whether several notes go by it.
SELECT 1 FROM claims WHERE slug = :slug LIMIT 1 OFFSET 1;

-- name: find_near
-- The note of a name in this very folder.
SELECT p.slug, p.page_id FROM files AS f
JOIN placed AS p ON p.found = f.found
WHERE f.name = :name AND f.folder = :folder
ORDER BY f.found LIMIT 1;

-- name: find_anywhere
-- The note of a name that is nearest to the top, of those whose folders end like this.
SELECT p.slug, p.page_id FROM files AS f
JOIN placed AS p ON p.found = f.found
WHERE f.name = :name AND (:folder = '' OR substr(f.folder, -length(:folder)) = :folder)
ORDER BY f.depth, f.folder, f.found LIMIT 1;
