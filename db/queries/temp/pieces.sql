-- name: make_tables
-- All that an import reads, as it was found.
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY, label TEXT, file BLOB, start INTEGER, size INTEGER, is_line INTEGER, is_history INTEGER
);

-- name: add_piece
-- One note, or one line.
INSERT INTO pieces (label, file, start, size, is_line, is_history)
VALUES (:label, :file, :start, :size, :is_line, :is_history);

-- name: count_pieces
-- How many there are.
SELECT count(*) FROM pieces;

-- name: list_pieces
-- Lines in the order of their file, those of histories by their files, then files by their paths.
SELECT label, file, start, size, is_line FROM pieces
ORDER BY is_line DESC, is_history, CASE WHEN is_history THEN file WHEN is_line THEN '' ELSE label END, id;

-- name: drop_pieces
-- Those of a folder that are no notes.
DELETE FROM pieces WHERE is_line = 0 AND substr(label, 1, length(:folder)) = :folder;

-- name: list_files
-- The files of some notes.
SELECT file FROM pieces WHERE is_line = 0 ORDER BY label LIMIT :most;
