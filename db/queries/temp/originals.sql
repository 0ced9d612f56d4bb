-- name: make_tables
-- The facts of pages that their files lack, one line each.
CREATE TABLE lines (id INTEGER PRIMARY KEY, record BLOB);

-- name: add_record
-- Add a line.
INSERT INTO lines (record) VALUES (:record);

-- name: list_records
-- List all lines in order.
SELECT record FROM lines ORDER BY id;
