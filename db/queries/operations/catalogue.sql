-- name: list_tables
-- The tables of the current schema from the catalogue, except those of extensions, so that no table is forgotten.
SELECT CAST(c.relname AS text) AS name, pg_table_size(c.oid) AS size,
    ARRAY(
        SELECT CAST(a.attname AS text) FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        ORDER BY a.attname
    ) AS columns,
    ARRAY(
        SELECT CAST(a.attname AS text) FROM pg_index AS i
        CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.number
        WHERE i.indrelid = c.oid AND i.indisprimary
        ORDER BY k.place
    ) AS key,
    ARRAY(
        SELECT CAST(a.attname AS text) FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.attcollation <> 0
    ) AS collated,
    ARRAY(
        SELECT DISTINCT CAST(t.relname AS text) FROM pg_constraint AS f
        JOIN pg_class AS t ON t.oid = f.confrelid
        WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid
    ) AS refers
FROM pg_class AS c
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND NOT EXISTS (
        SELECT FROM pg_depend AS d
        WHERE d.classid = CAST('pg_class' AS regclass) AND d.objid = c.oid AND d.deptype = 'e'
    )
ORDER BY c.relname;

-- name: list_indexes
-- The indexes of the current schema that belong to no constraint, with their definitions.
SELECT CAST(c.relname AS text) AS name, pg_get_indexdef(i.indexrelid) AS definition
FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND i.indisvalid
    AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid)
ORDER BY c.relname;

-- name: describe_server
-- The facts about the database that a backup records, and the rights of this role.
SELECT current_database() AS database, CAST(current_schema() AS text) AS schema,
    current_setting('server_version') AS server_version,
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser,
    (SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user) AS may_create,
    EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS is_citus;

-- name: count_others
-- The number of Cairn's programs that are connected to this database, except commands such as this one.
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name IN ('cairn', 'cairn listening');

-- name: describe_database
-- The properties of the database with which one that replaces it has to be created.
SELECT CAST(datlocprovider AS text) AS provider, datcollate, datctype,
    to_jsonb(d) ->> CASE WHEN to_jsonb(d) ? 'datlocale' THEN 'datlocale' ELSE 'daticulocale' END AS locale
FROM pg_database AS d
WHERE datname = current_database();

-- name: find_mark
-- The comment of a database of this server. No row if there is no such database.
SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = CAST(:name AS text);
