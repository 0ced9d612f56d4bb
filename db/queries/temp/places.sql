-- name: make_tables
-- The pages that were imported from files before, the notes that were read, the page of each note, stubs that redirect,
-- and the next free numbers of slugs.
CREATE TABLE known (type TEXT, label TEXT, slug TEXT, page_id BLOB, PRIMARY KEY (type, label)) WITHOUT ROWID;
CREATE INDEX known_label ON known (label);
CREATE TABLE found (
    id INTEGER PRIMARY KEY, label TEXT, is_file INTEGER, type TEXT, slug TEXT, title TEXT, place INTEGER
);
CREATE TABLE placed (
    id INTEGER PRIMARY KEY, found INTEGER, label TEXT, is_file INTEGER, type TEXT, slug TEXT, place INTEGER,
    page_id BLOB, created INTEGER, changed INTEGER
);
CREATE UNIQUE INDEX placed_slug ON placed (slug, type);
CREATE INDEX placed_found ON placed (found);
CREATE INDEX placed_page ON placed (page_id) WHERE page_id IS NOT NULL;
CREATE TABLE stubs (found INTEGER PRIMARY KEY, label TEXT, place INTEGER);
CREATE TABLE numbers (slug TEXT PRIMARY KEY, next INTEGER) WITHOUT ROWID;

-- name: know_page
-- Store which file was imported as which page; of several pages of a file the oldest counts.
INSERT INTO known VALUES (:type, :label, :slug, :page_id) ON CONFLICT (type, label)
DO UPDATE SET slug = excluded.slug, page_id = excluded.page_id WHERE excluded.page_id < known.page_id;

-- name: find_known_type
-- Find the type of the page that a file is already; of several the type of a file without one.
SELECT type FROM known WHERE label = :label ORDER BY type <> 'reference', type LIMIT 1;

-- name: add_note
-- Add a note that was read, with the position of its text.
INSERT INTO found VALUES (:id, :label, :is_file, :type, :slug, :title, :place);

-- name: add_stub
-- Add a stub, which redirects a slug to a page.
INSERT INTO stubs VALUES (:id, :label, :place);

-- name: list_stubs
-- List the stubs in the order in which they were read.
SELECT label, place FROM stubs ORDER BY found;

-- name: list_notes
-- List the notes in the order in which they get their slugs: those that specify a slug, those whose file is a page
-- already, then those nearest to the top; with the slug of the page that their file is already.
SELECT f.id, f.label, f.is_file, f.type, f.slug, f.title, f.place, k.slug FROM found AS f
LEFT JOIN known AS k ON k.type = f.type AND k.label = f.label
ORDER BY f.slug IS NULL, k.slug IS NULL, f.is_file * (length(f.label) - length(replace(f.label, '/', ''))), f.id;

-- name: take_slug
-- Give a note its slug.
INSERT INTO placed (found, label, is_file, type, slug, place) VALUES (:id, :label, :is_file, :type, :slug, :place);

-- name: find_holder
-- Find the note that has this slug in this type.
SELECT label FROM placed WHERE slug = :slug AND type = :type;

-- name: find_taken
-- Find out whether a note of any type has the slug.
SELECT 1 FROM placed WHERE slug = :slug;

-- name: find_number
-- Find the next number for this slug.
SELECT next FROM numbers WHERE slug = :slug;

-- name: keep_number
-- Store the next number for this slug.
INSERT OR REPLACE INTO numbers VALUES (:slug, :next);

-- name: count_placed
-- Count the notes that have a slug.
SELECT count(*) FROM placed;

-- name: list_placed
-- List the notes that have a slug, in the order in which they are written.
SELECT id, label, is_file, type, slug, place FROM placed ORDER BY id;

-- name: keep_page
-- Store the page that a note was saved as.
UPDATE placed SET page_id = :page_id, created = :created, changed = :changed WHERE id = :id;

-- name: list_pages
-- List the notes that were saved as pages, in the same order.
SELECT id, label, is_file, type, slug, place, page_id, created, changed FROM placed
WHERE page_id IS NOT NULL ORDER BY id;

-- name: list_page_ids
-- List each page once.
SELECT DISTINCT page_id FROM placed WHERE page_id IS NOT NULL ORDER BY page_id;
