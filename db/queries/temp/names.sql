-- name: make_tables
-- The files of notes by name and folder, and the slugs by which a link may mean a note; and
-- the marks that tools give to pages and blocks, and what an export says of files besides. `placed` is that of places.sql.
CREATE TABLE notes (found INTEGER PRIMARY KEY, name TEXT, folder TEXT, depth INTEGER);
CREATE INDEX notes_name ON notes (name, depth, folder, found);
CREATE INDEX notes_folder ON notes (name, folder, found);
CREATE TABLE marks (mark TEXT PRIMARY KEY, found INTEGER, text TEXT) WITHOUT ROWID;
CREATE TABLE records (path TEXT PRIMARY KEY, record BLOB) WITHOUT ROWID;
CREATE TABLE claims (slug TEXT, found INTEGER, PRIMARY KEY (slug, found)) WITHOUT ROWID;

-- name: add_file
-- The file of a note.
INSERT INTO notes VALUES (:id, :name, :folder, :depth);

-- name: add_claim
-- A slug that a note goes by.
INSERT OR IGNORE INTO claims VALUES (:slug, :id);

-- name: find_shared
-- Whether several notes go by it.
SELECT 1 FROM claims WHERE slug = :slug LIMIT 1 OFFSET 1;

-- name: find_near
-- The note of a name in this very folder.
SELECT p.slug, p.page_id, p.type FROM notes AS f
JOIN placed AS p ON p.found = f.found
WHERE f.name = :name AND f.folder = :folder
ORDER BY f.found LIMIT 1;

-- name: find_anywhere
-- The note of a name that is nearest to the top, of those whose folders end like this.
SELECT p.slug, p.page_id, p.type FROM notes AS f
JOIN placed AS p ON p.found = f.found
WHERE f.name = :name AND (:folder = '' OR substr(f.folder, -length(:folder)) = :folder)
ORDER BY f.depth, f.folder, f.found LIMIT 1;

-- name: add_told
-- What an export says of a file besides.
INSERT OR IGNORE INTO records VALUES (:path, :record);

-- name: find_told
-- The same of one file.
SELECT record FROM records WHERE path = :path;

-- name: add_mark
-- What a tool calls a page or a block by, and how a link to it is read.
INSERT OR IGNORE INTO marks VALUES (:mark, :id, :text);

-- name: find_mark
-- The note of a mark.
SELECT p.slug, p.page_id, p.type, m.text FROM marks AS m
JOIN placed AS p ON p.found = m.found
WHERE m.mark = :mark;
