-- name: make_tables
-- The files of notes by name and folder, the slugs by which a link may refer to a note, the marks that tools give to
-- pages and blocks, and the lines of an export beside its files. `placed` is a table of places.sql.
CREATE TABLE notes (found INTEGER PRIMARY KEY, name TEXT, folder TEXT, depth INTEGER);
CREATE INDEX notes_name ON notes (name, depth, folder, found);
CREATE INDEX notes_folder ON notes (name, folder, found);
CREATE TABLE marks (mark TEXT PRIMARY KEY, found INTEGER, text TEXT) WITHOUT ROWID;
CREATE TABLE records (path TEXT PRIMARY KEY, record BLOB) WITHOUT ROWID;
CREATE TABLE claims (slug TEXT, found INTEGER, PRIMARY KEY (slug, found)) WITHOUT ROWID;

-- name: add_file
-- Add the file of a note.
INSERT INTO notes VALUES (:id, :name, :folder, :depth);

-- name: add_claim
-- Add a slug by which a link may refer to a note.
INSERT OR IGNORE INTO claims VALUES (:slug, :id);

-- name: find_shared
-- Find out whether several notes have the slug.
SELECT 1 FROM claims WHERE slug = :slug LIMIT 1 OFFSET 1;

-- name: find_near
-- Find the note with a name in this folder.
SELECT p.slug, p.page_id, p.type FROM notes AS f
JOIN placed AS p ON p.found = f.found
WHERE f.name = :name AND f.folder = :folder
ORDER BY f.found LIMIT 1;

-- name: find_anywhere
-- Find the note with a name that is nearest to the top, among those whose folders end with this folder.
SELECT p.slug, p.page_id, p.type FROM notes AS f
JOIN placed AS p ON p.found = f.found
WHERE f.name = :name AND (:folder = '' OR substr(f.folder, -length(:folder)) = :folder)
ORDER BY f.depth, f.folder, f.found LIMIT 1;

-- name: add_told
-- Add the line of an export beside a file.
INSERT OR IGNORE INTO records VALUES (:path, :record);

-- name: find_told
-- Find the line of an export beside a file.
SELECT record FROM records WHERE path = :path;

-- name: add_mark
-- Add a mark of a page or a block, with the text of links to it.
INSERT OR IGNORE INTO marks VALUES (:mark, :id, :text);

-- name: find_mark
-- Find the note of a mark.
SELECT p.slug, p.page_id, p.type, m.text FROM marks AS m
JOIN placed AS p ON p.found = m.found
WHERE m.mark = :mark;
