-- name: make_tables
-- What the files of pages do not say.
CREATE TABLE lines (id INTEGER PRIMARY KEY, record BLOB);

-- name: add_record
-- A line of it.
INSERT INTO lines (record) VALUES (:record);

-- name: list_records
-- All lines, in their order.
SELECT record FROM lines ORDER BY id;
