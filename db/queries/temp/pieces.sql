-- name: make_tables
-- The pieces that an import reads, in the order in which they were found.
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY, label TEXT, file BLOB, start INTEGER, size INTEGER, is_line INTEGER, is_history INTEGER
);

-- name: add_piece
-- Add a note or a line.
INSERT INTO pieces (label, file, start, size, is_line, is_history)
VALUES (:label, :file, :start, :size, :is_line, :is_history);

-- name: count_pieces
-- Count the pieces.
SELECT count(*) FROM pieces;

-- name: list_pieces
-- List the pieces: lines in the order of their file, lines of histories by their files, then files by path.
SELECT label, file, start, size, is_line FROM pieces
ORDER BY is_line DESC, is_history, CASE WHEN is_history THEN file WHEN is_line THEN '' ELSE label END, id;

-- name: drop_pieces
-- Delete the notes of a folder.
DELETE FROM pieces WHERE is_line = 0 AND substr(label, 1, length(:folder)) = :folder;

-- name: list_files
-- List the files of some notes.
SELECT file FROM pieces WHERE is_line = 0 ORDER BY label LIMIT :limit;
