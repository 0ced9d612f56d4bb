-- name: make_tables
-- The lines of an export with facts about pages that their files do not contain.
CREATE TABLE lines (id INTEGER PRIMARY KEY, record BLOB);

-- name: add_record
-- Add a line.
INSERT INTO lines (record) VALUES (:record);

-- name: list_records
-- All lines in order.
SELECT record FROM lines ORDER BY id;
