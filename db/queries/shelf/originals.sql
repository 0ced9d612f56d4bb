-- name: make_tables
-- What the files of pages do not say.
CREATE TABLE records (id INTEGER PRIMARY KEY, record BLOB);

-- name: add_record
-- A line of it.
INSERT INTO records (record) VALUES (:record);

-- name: list_records
-- All lines, in their order.
SELECT record FROM records ORDER BY id;
