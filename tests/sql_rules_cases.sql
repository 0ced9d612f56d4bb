-- Statements for test_sql_rules.py, under a header of what becomes of them:
--   accepted            and no tenant predicate in it can be left out
--   spare               accepted, with a predicate that another one makes unnecessary
--   refused [words]     with these words in the finding

-- accepted: a page by its id
SELECT p.id, p.title FROM pages AS p WHERE p.tenant_id = $1 AND p.id = $2

-- accepted: a page by its id, the columns without an alias
SELECT id, title FROM pages WHERE tenant_id = CAST($1 AS uuid) AND id = $2::uuid

-- accepted: the parameter on the left, and a cast of a cast
SELECT id FROM pages WHERE ($1::text)::uuid = tenant_id AND id = $2

-- accepted: a row comparison that holds the tenant
SELECT s.id FROM sections AS s WHERE (s.tenant_id, s.id) = ($1, $2)

-- accepted: tables joined on the tenant, and the last one on nothing but it
SELECT p.id, s.heading, src.ref
FROM pages AS p
JOIN sections AS s ON s.tenant_id = p.tenant_id AND s.page_id = p.id
JOIN section_sources AS c ON c.tenant_id = s.tenant_id AND c.section_id = s.id
LEFT JOIN sources AS src ON src.tenant_id = c.tenant_id AND src.id = c.source_id
WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])

-- accepted: a chain of joins that reaches the parameter at its far end
SELECT p.id FROM pages AS p, sections AS s, section_sources AS c, sources AS src
WHERE p.tenant_id = s.tenant_id AND s.tenant_id = c.tenant_id AND c.tenant_id = src.tenant_id AND src.tenant_id = $1

-- accepted: parameters without a blank between them
SELECT id FROM pages WHERE tenant_id = $1 AND id IN($2,$3)AND tags[$4:$5]=$6::text[]AND(created_at,id)>($7,$8)

-- accepted: a join that names the tenant in USING
SELECT p.id, a.alias FROM pages AS p JOIN aliases AS a USING (tenant_id) WHERE p.tenant_id = $1 AND a.page_id = p.id

-- accepted: a chain of USING, in an update
UPDATE pages AS p SET title = s.heading FROM sections AS s JOIN section_sources AS c USING (tenant_id, page_id)
JOIN sources AS src USING (tenant_id) WHERE p.tenant_id = s.tenant_id AND src.tenant_id = $1

-- refused [links l: not bound]: a table before the comma, where USING does not reach
SELECT p.id FROM links AS l, pages AS p JOIN aliases AS a USING (tenant_id) WHERE p.tenant_id = $1

-- refused [links l: not bound]: a table after the comma, where USING does not reach
SELECT p.id FROM pages AS p JOIN aliases AS a USING (tenant_id), links AS l WHERE p.tenant_id = $1

-- refused [aliases a: not bound]: a join that names the id alone in USING
SELECT p.id FROM pages AS p JOIN aliases AS a USING (id) WHERE p.tenant_id = $1

-- accepted: a group of joins on the joined side
SELECT p.id FROM pages AS p
LEFT JOIN (links AS l JOIN pages AS q ON q.tenant_id = l.tenant_id AND q.id = l.to_page_id)
  ON l.tenant_id = p.tenant_id AND l.from_page_id = p.id
WHERE p.tenant_id = $1

-- spare: the search of the evidence, every arm with its own predicate
WITH alias_hits AS (
  SELECT a.tenant_id, a.page_id, min(a.alias) AS alias FROM aliases a
  WHERE a.tenant_id = $1 AND a.owner_id = $2 AND a.alias ILIKE '%' || $3 || '%' GROUP BY 1, 2
), fts AS (
  SELECT p.tenant_id, p.page_id FROM search_pages p
  WHERE p.tenant_id = $1 AND p.owner_id = $2
    AND p.tsv @@ (plainto_tsquery('english', $3) || to_tsquery('english', $4))
), ids AS (SELECT tenant_id, page_id FROM fts UNION SELECT tenant_id, page_id FROM alias_hits)
SELECT p.id, p.title, CASE WHEN ah.page_id IS NOT NULL THEN 1.0 ELSE 0.0 END AS score, ah.alias AS matched_alias
FROM ids JOIN pages p ON p.tenant_id = ids.tenant_id AND p.id = ids.page_id
LEFT JOIN alias_hits ah ON ah.tenant_id = p.tenant_id AND ah.page_id = p.id
WHERE p.tenant_id = $1 AND p.owner_id = $2 AND p.status = 'active'
ORDER BY score DESC, p.last_compiled_at DESC NULLS LAST, p.id LIMIT $5

-- refused [pages p: not bound]: the search as the seed prints it
WITH alias_hits AS (SELECT a.page_id FROM aliases a WHERE a.tenant_id = $1 AND a.alias ILIKE $2)
SELECT p.id FROM alias_hits a JOIN pages p ON p.id = a.page_id

-- refused [pages p: not bound]: joined on the tenant of a common table expression alone
WITH hits AS (SELECT a.tenant_id, a.page_id FROM aliases AS a WHERE a.tenant_id = $1)
SELECT p.id FROM hits JOIN pages AS p ON p.tenant_id = hits.tenant_id AND p.id = hits.page_id

-- accepted: a recursive walk with the tenant in both arms
WITH RECURSIVE tree(id, depth) AS (
  SELECT p.id, 1 FROM pages AS p WHERE p.tenant_id = $1 AND p.parent_page_id = $2
  UNION ALL
  SELECT c.id, tree.depth + 1 FROM pages AS c JOIN tree ON c.parent_page_id = tree.id
  WHERE c.tenant_id = $1 AND tree.depth < $3
)
SELECT id FROM tree ORDER BY depth

-- refused [pages c: not bound]: a recursive walk with the tenant in the anchor only
WITH RECURSIVE tree AS (
  SELECT p.tenant_id, p.id FROM pages AS p WHERE p.tenant_id = $1 AND p.id = $2
  UNION ALL
  SELECT c.tenant_id, c.id FROM pages AS c JOIN tree ON c.tenant_id = tree.tenant_id AND c.parent_page_id = tree.id
)
SELECT id FROM tree

-- accepted: correlated by the tenant, two levels deep
SELECT p.id, (
  SELECT count(*) FROM links AS l WHERE l.tenant_id = p.tenant_id AND l.to_page_id = p.id AND EXISTS (
    SELECT FROM pages AS q WHERE q.tenant_id = p.tenant_id AND q.id = l.from_page_id AND q.status = 'active')
) FROM pages AS p WHERE p.tenant_id = $1

-- refused [links l: not bound]: correlated by the id alone
SELECT p.id, (SELECT count(*) FROM links AS l WHERE l.to_page_id = p.id) FROM pages AS p WHERE p.tenant_id = $1

-- accepted: the newest three revisions of each page
SELECT p.id, r.version FROM pages AS p
CROSS JOIN LATERAL (
  SELECT r.version FROM revisions AS r WHERE r.tenant_id = p.tenant_id AND r.page_id = p.id ORDER BY r.version DESC LIMIT 3
) AS r
WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])

-- accepted: rows beside an array
SELECT given.ordinality, p.id
FROM unnest($2::uuid[], $3::float8[]) WITH ORDINALITY AS given(page_id, score, ordinality)
JOIN pages AS p ON p.id = given.page_id
WHERE p.tenant_id = $1 ORDER BY given.ordinality

-- accepted: arms of a union
(SELECT p.id FROM pages AS p WHERE p.tenant_id = $1) UNION ALL SELECT o.page_id FROM old_slugs AS o WHERE o.tenant_id = $1

-- refused [old_slugs o: not bound]: one arm of a union forgets
SELECT p.id FROM pages AS p WHERE p.tenant_id = $1 UNION ALL SELECT o.page_id FROM old_slugs AS o

-- accepted: ids found in a sub-select
SELECT p.id FROM pages AS p
WHERE p.tenant_id = $1 AND p.id IN (SELECT l.from_page_id FROM links AS l WHERE l.tenant_id = $1 AND l.to_page_id = $2)

-- accepted: a sub-select in FROM and one in the values of JSON_OBJECT, with conditions
SELECT JSON_OBJECT('id': p.id, 'old': p.version > $3::integer, 'summary': p.summary IS NOT NULL ABSENT ON NULL,
  'sections': (SELECT coalesce(json_agg(x.item ORDER BY x.number) FILTER (WHERE x.number <= $4), CAST('[]' AS json))
    FROM (SELECT JSON_OBJECT('heading': s.heading, '$type': JSON_SCALAR('Section')) AS item,
                 row_number() OVER (ORDER BY s.position) AS number
          FROM sections AS s WHERE s.page_id = p.id AND s.tenant_id = $1::UUID LIMIT $4::INTEGER + 1) AS x)) AS item
FROM pages AS p WHERE p.id = $2::UUID AND p.tenant_id = $1::UUID

-- accepted: a compiled walk inside a compiled row
SELECT JSON_OBJECT('page': (SELECT JSON_OBJECT('descendants': (SELECT coalesce(json_agg(anon_2.item), CAST('[]' AS JSON)) AS coalesce_1
FROM (WITH RECURSIVE tree(id, depth) AS
(SELECT pages_2.id AS id, 1 AS depth
FROM pages AS pages_2
WHERE pages_2.parent_page_id = pages_3.id AND pages_2.tenant_id = $1::UUID UNION ALL SELECT pages_4.id AS id, tree.depth + 1 AS anon_3
FROM pages AS pages_4 JOIN tree ON pages_4.parent_page_id = tree.id
WHERE pages_4.tenant_id = $1::UUID AND tree.depth < $2::INTEGER)
 SELECT JSON_OBJECT('tags': pages_1.tags, 'title': pages_1.title) AS item
FROM pages AS pages_1 JOIN tree ON pages_1.id = tree.id
WHERE pages_1.tenant_id = $1::UUID ORDER BY tree.depth, pages_1.id
 LIMIT $3::INTEGER) AS anon_2), 'excerpt': coalesce(to_json(left(pages_3.body_md, $4::INTEGER)), CAST(concat('null') AS JSON))) AS item
FROM pages AS pages_3
WHERE pages_3.slug = $6::VARCHAR AND pages_3.tenant_id = $1::UUID AND pages_3.owner_id = $7::UUID)) AS anon_1

-- accepted: a compiled page of a connection, with its cursor
SELECT JSON_OBJECT('hits': (SELECT coalesce(json_agg(anon_2.item), CAST('[]' AS JSON)) AS coalesce_1
FROM (SELECT JSON_OBJECT('alias': anon_3.matched_alias) AS item
FROM unnest($1::UUID[], $2::DOUBLE PRECISION[], $3::TEXT[]) WITH ORDINALITY AS anon_3(page_id, score, matched_alias, ordinality)
WHERE EXISTS (SELECT pages_1.id
FROM pages AS pages_1
WHERE pages_1.id = anon_3.page_id AND pages_1.status = 'active' AND pages_1.tenant_id = $4::UUID) ORDER BY anon_3.ordinality
 LIMIT $5::INTEGER) AS anon_2), 'recent': (SELECT JSON_OBJECT('more': count(anon_5.number) > $9::INTEGER, 'edges': json_agg(anon_5.item ORDER BY anon_5.number) ->> -1) AS anon_4
FROM (SELECT JSON_OBJECT('cursor': translate(encode(convert_to(CAST(json_build_array('-updated_at,-id', pages_2.updated_at, pages_2.id) AS TEXT), 'utf8'), 'base64'), '
', '')) AS item, row_number() OVER (ORDER BY pages_2.updated_at DESC, pages_2.id DESC) AS number
FROM pages AS pages_2
WHERE pages_2.tenant_id = $4::UUID AND pages_2.owner_id = $6::UUID AND (pages_2.updated_at, pages_2.id) > ($7::TIMESTAMP WITH TIME ZONE, $8::UUID) ORDER BY pages_2.updated_at DESC, pages_2.id DESC
 LIMIT $9::INTEGER + 0) AS anon_5)) AS anon_1

-- accepted: trigrams, with the threshold written out
SELECT n.page_id, similarity(n.name, $3) AS alike FROM page_names AS n
WHERE n.tenant_id = $1 AND n.owner_id = $2 AND n.name % $3 AND $3 <% n.name AND similarity(n.name, $3) >= 0.85
ORDER BY n.name <-> $3 LIMIT 5

-- accepted: a filter that may be left out
SELECT p.id FROM pages AS p WHERE p.tenant_id = $1 AND ($2::text IS NULL OR p.status = $2)

-- accepted: an owner, locked
SELECT o.id FROM owners AS o WHERE o.tenant_id = $1 AND o.id = $2 FOR UPDATE OF o

-- accepted: a job of one tenant, claimed
UPDATE compile_jobs SET status = 'running', started_at = now() WHERE tenant_id = $1 AND id = (
  SELECT j.id FROM compile_jobs AS j WHERE j.tenant_id = $1 AND j.status = 'pending'
  ORDER BY j.run_after LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, attempt

-- refused [beside FOR UPDATE]: a job of any tenant, claimed
SELECT j.id FROM compile_jobs AS j WHERE j.status = 'pending' ORDER BY j.run_after LIMIT 1 FOR UPDATE SKIP LOCKED

-- refused [pages pages: not bound]: a page by its id and nothing else
SELECT id FROM pages WHERE id = $1

-- refused [pages p: not bound]: one of several tenants
SELECT p.id FROM pages AS p WHERE p.tenant_id = ANY($1::uuid[])

-- refused [pages p: not bound]: a predicate under OR
SELECT p.id FROM pages AS p WHERE p.tenant_id = $1 OR p.status = 'active'

-- refused [pages p: not bound]: a predicate under NOT
SELECT p.id FROM pages AS p WHERE NOT (p.tenant_id = $1)

-- refused [pages p: not bound]: a predicate that is only looked at
SELECT p.tenant_id = $1 AS own, p.id FROM pages AS p

-- refused [pages p: not bound]: a predicate on the side that a LEFT JOIN keeps
SELECT p.id FROM pages AS p LEFT JOIN links AS l ON p.tenant_id = $1 AND l.tenant_id = $1

-- refused [pages p: not bound]: a FULL JOIN
SELECT p.id FROM pages AS p FULL JOIN links AS l ON p.tenant_id = $1 AND l.tenant_id = $1

-- refused [pages p: not bound]: compared with itself
SELECT p.id FROM pages AS p WHERE p.tenant_id = p.tenant_id

-- refused [links l: not bound]: two tables that are bound to each other only
SELECT p.id FROM pages AS p JOIN links AS l ON l.tenant_id = p.tenant_id

-- refused [links l: not bound]: a natural join
SELECT p.id FROM pages AS p NATURAL JOIN links AS l WHERE p.tenant_id = $1

-- refused [pages p: not bound]: another column against the parameter
SELECT p.id FROM pages AS p WHERE p.owner_id = $1

-- refused [pages p: not bound]: a setting for a tenant
SELECT p.id FROM pages AS p WHERE p.tenant_id = current_setting('app.tenant_id')::uuid

-- refused [pages p: not bound]: a sub-select in FROM does not see the bound table beside it
SELECT x.id FROM (SELECT p.id FROM pages AS p WHERE p.tenant_id = a.tenant_id) AS x, aliases AS a WHERE a.tenant_id = $1

-- refused [pages p: not bound]: nor does a common table expression
WITH x AS (SELECT p.id FROM pages AS p WHERE p.tenant_id = a.tenant_id) SELECT x.id FROM x, aliases AS a WHERE a.tenant_id = $1

-- refused [pages q: not bound]: an inner table that hides the bound one
SELECT p.id FROM pages AS p WHERE p.tenant_id = $1 AND EXISTS (
  SELECT FROM unnest($2::uuid[]) AS p(tenant_id), pages AS q WHERE q.tenant_id = p.tenant_id)

-- refused [literal tenant]: a tenant in the text
SELECT p.id FROM pages AS p WHERE p.tenant_id = '0190b2c4-0000-7000-8000-000000000001'::uuid

-- refused [literal tenant]: a list of tenants in the text
SELECT p.id FROM pages AS p WHERE p.tenant_id = $1 AND p.tenant_id IN ('0190b2c4-0000-7000-8000-000000000001')

-- refused [two tenants]: two parameters for the tenant
SELECT p.id FROM pages AS p, links AS l WHERE p.tenant_id = $1 AND l.tenant_id = $2

-- refused [WITH pages: it hides]: a common table expression with the name of a table
WITH pages AS (SELECT id FROM pages WHERE tenant_id = $1) SELECT id FROM pages

-- refused [pages p: not bound]: a comment and a string that look like the predicate
SELECT p.id, 'p.tenant_id = $1' FROM pages AS p /* WHERE p.tenant_id = $1 */ -- WHERE p.tenant_id = $1

-- spare: the tenant of a key, by itself
SELECT k.tenant_id, k.role, t.slug FROM api_keys AS k JOIN tenants AS t ON t.tenant_id = k.tenant_id WHERE k.key_hash = $1

-- refused [api_keys k: it is no way to the tenant]: pages of a key's tenant, by a join
SELECT p.id FROM api_keys AS k JOIN pages AS p ON p.tenant_id = k.tenant_id WHERE k.key_hash = $1

-- refused [api_keys k: it is no way to the tenant]: pages of a key's tenant, by a sub-select
SELECT p.id FROM pages AS p WHERE p.tenant_id = (SELECT k.tenant_id FROM api_keys AS k WHERE k.key_hash = $1)

-- accepted: the name of the tenant beside its owners
SELECT t.name, o.slug FROM tenants AS t JOIN owners AS o ON o.tenant_id = t.tenant_id WHERE t.tenant_id = $1

-- accepted: an inserted row
INSERT INTO pages (tenant_id, owner_id, id, title, updated_at) VALUES ($1, $2, gen_random_uuid(), $3, now())

-- accepted: rows of two tenants
INSERT INTO owners (tenant_id, id, slug) VALUES ($1, $2, $3), ($4, $5, $6)

-- accepted: an upsert that says whether it inserted
INSERT INTO aliases AS a (tenant_id, owner_id, id, page_id, alias, created_at) VALUES ($1::uuid, $2, $3, $4, $5, now())
ON CONFLICT (tenant_id, page_id, alias) DO UPDATE SET created_at = excluded.created_at, name = coalesce(a.name, $6)
WHERE a.created_at < excluded.created_at
RETURNING a.id, (xmax = 0) AS inserted

-- accepted: reasons added to those that stand
INSERT INTO links (tenant_id, owner_id, id, reasons)
SELECT $1, $2, given.id, ARRAY[$3::text] FROM unnest($4::uuid[]) AS given(id)
ON CONFLICT (tenant_id, id) DO UPDATE SET reasons = links.reasons || excluded.reasons
WHERE NOT links.reasons @> excluded.reasons RETURNING *

-- accepted: rows copied from bound ones
INSERT INTO revisions (tenant_id, id, page_id) SELECT p.tenant_id, $3, p.id FROM pages AS p WHERE p.tenant_id = $1 AND p.id = $2

-- accepted: rows of an array after their tenant
INSERT INTO sources (tenant_id, id, ref) SELECT $1, given.* FROM unnest($2::uuid[], $3::text[]) AS given(id, ref)

-- accepted: a copy into the table
COPY pages (tenant_id, owner_id, id, title) FROM STDIN WITH (FORMAT binary)

-- refused [INSERT pages: no tenant_id]: an inserted row without its tenant
INSERT INTO pages (id, title) VALUES ($1, $2)

-- refused [INSERT pages: no tenant_id]: an insert without a column list
INSERT INTO pages SELECT p.* FROM pages AS p WHERE p.tenant_id = $1

-- refused [INSERT pages: its tenant_id]: another value where the tenant belongs
INSERT INTO pages (id, tenant_id) VALUES ($1, gen_random_uuid())

-- refused [INSERT pages: its tenant_id]: a second row with a literal tenant
INSERT INTO pages (tenant_id, id) VALUES ($1, $2), ('0190b2c4-0000-7000-8000-000000000001', $3)

-- refused [INSERT revisions: its tenant_id]: a star that hides which column is the tenant
INSERT INTO revisions (id, tenant_id) SELECT x.*, x.tenant_id FROM unnest($1::uuid[], $2::uuid[]) AS x(id, tenant_id)

-- refused [pages p: not bound]: rows copied from any tenant
INSERT INTO revisions (tenant_id, id, page_id) SELECT p.tenant_id, $2, p.id FROM pages AS p WHERE p.id = $1

-- refused [sub-select in VALUES]: a value looked up while inserting
INSERT INTO pages (tenant_id, id) VALUES ($1, (SELECT s.id FROM sections AS s WHERE s.tenant_id = $1 LIMIT 1))

-- refused [current_timestamp() may not be immutable]: the time in DO UPDATE
INSERT INTO pages (tenant_id, id) VALUES ($1, $2) ON CONFLICT (tenant_id, id) DO UPDATE SET updated_at = now()

-- refused [clock_timestamp() may not be immutable]: the time in the WHERE of DO UPDATE
INSERT INTO pages (tenant_id, id) VALUES ($1, $2)
ON CONFLICT (tenant_id, id) DO UPDATE SET title = excluded.title WHERE pages.updated_at < clock_timestamp()

-- refused [ON CONFLICT: a sub-select]: a sub-select in DO UPDATE
INSERT INTO links (tenant_id, id, reasons) VALUES ($1, $2, $3) ON CONFLICT (tenant_id, id)
DO UPDATE SET reasons = (SELECT array_agg(DISTINCT x) FROM unnest(links.reasons || excluded.reasons) AS x)

-- refused [SET tenant_id]: a tenant changed in DO UPDATE
INSERT INTO pages (tenant_id, id) VALUES ($1, $2) ON CONFLICT (tenant_id, id) DO UPDATE SET tenant_id = excluded.tenant_id

-- accepted: an update with the time of the statement
UPDATE pages SET updated_at = now(), version = version + 1 WHERE tenant_id = $1 AND id = $2 RETURNING version

-- accepted: an update from an array
UPDATE pages AS p SET hubness_score = given.score FROM unnest($2::uuid[], $3::int[]) AS given(id, score)
WHERE p.tenant_id = $1 AND p.id = given.id

-- accepted: an update from another table
UPDATE sections AS s SET heading = p.title FROM pages AS p
WHERE s.tenant_id = $1 AND p.tenant_id = s.tenant_id AND p.id = s.page_id

-- accepted: children without a parent, then the parent
WITH u AS (UPDATE pages SET parent_page_id = NULL WHERE tenant_id = $1 AND owner_id = $3 AND parent_page_id = $2)
DELETE FROM pages WHERE tenant_id = $1 AND id = $2

-- accepted: a deletion by way of another table
DELETE FROM links AS l USING pages AS p WHERE p.tenant_id = $1 AND l.tenant_id = p.tenant_id AND l.to_page_id = p.id

-- refused [pages pages: not bound]: an update of every tenant
UPDATE pages SET status = 'archived' WHERE id = $1

-- refused [sections s: not bound]: an update from a table of every tenant
UPDATE pages AS p SET title = s.heading FROM sections AS s WHERE p.tenant_id = $1 AND s.page_id = p.id

-- refused [pages pages: not bound]: a deletion from every tenant
DELETE FROM pages

-- refused [UPDATE: clock_timestamp() is volatile]: the time of the clock
UPDATE pages SET updated_at = clock_timestamp() WHERE tenant_id = $1 AND id = $2

-- refused [UPDATE: uuid() is volatile]: an id made while updating
UPDATE pages SET parent_page_id = gen_random_uuid() WHERE tenant_id = $1 AND id = $2

-- refused [DELETE: rand() is volatile]: chance
DELETE FROM activity WHERE tenant_id = $1 AND random() < 0.1

-- refused [SET tenant_id]: a tenant changed
UPDATE pages SET tenant_id = $2 WHERE tenant_id = $1

-- refused [SET tenant_id]: a tenant changed among others
UPDATE pages SET (owner_id, tenant_id) = ($2, $3) WHERE tenant_id = $1

-- refused [RETURNING CURRENT_TIMESTAMP]: the time returned
DELETE FROM pages WHERE tenant_id = $1 RETURNING id, now()

-- refused [RETURNING]: a sub-select returned
INSERT INTO pages (tenant_id, id) VALUES ($1, $2) RETURNING (SELECT count(*) FROM pages WHERE tenant_id = $1)

-- refused [MERGE]: a merge
MERGE INTO pages AS p USING sections AS s ON s.page_id = p.id WHEN MATCHED THEN DELETE

-- refused [CREATE TRIGGER]: a trigger
CREATE OR REPLACE TRIGGER touch BEFORE UPDATE ON pages FOR EACH ROW EXECUTE FUNCTION touch()

-- accepted: a note sent by itself
SELECT pg_notify($1, $2)

-- refused [pg_notify in a query]: a note sent from a query
SELECT pg_notify('jobs', j.id::text) FROM compile_jobs AS j WHERE j.tenant_id = $1

-- accepted: what surrounds statements
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SAVEPOINT pages; RELEASE SAVEPOINT pages; COMMIT; LISTEN compile_jobs;
SELECT pg_advisory_xact_lock($1); SET LOCAL statement_timeout = '5s'; SET TRANSACTION READ ONLY; CLOSE ALL; UNLISTEN *

-- accepted: settings that leave the meaning alone
SET LOCAL lock_timeout TO '2s'; SELECT set_config('jit', $1, false); SET plan_cache_mode = force_custom_plan; RESET ALL

-- refused [setting pg_trgm.similarity_threshold]: a threshold for the session
SET pg_trgm.similarity_threshold = 0.85

-- refused [setting pg_trgm.similarity_threshold]: a threshold for the transaction
SELECT set_config('pg_trgm.similarity_threshold', '0.85', true)

-- refused [setting app.tenant_id]: a tenant in a setting
BEGIN; SET LOCAL app.tenant_id = '0190b2c4-0000-7000-8000-000000000001'

-- refused [setting search_path]: another schema
SET search_path TO elsewhere

-- refused [setting $1]: a setting that the text does not name
SELECT set_config($1, $2, true)

-- accepted: the catalogue, in words that sqlglot need not read
SELECT c.oid::regclass, c.relpages FROM pg_catalog.pg_class AS c WHERE c.relname OPERATOR(pg_catalog.~) $1 COLLATE pg_catalog.default

-- accepted: statistics
ANALYZE pages; VACUUM (ANALYZE) links

-- refused [TRUNCATE on a tenant table]: every tenant emptied
TRUNCATE pages

-- refused [CREATE on a tenant table]: a table made at run time
CREATE TABLE copied AS SELECT * FROM pages WHERE tenant_id = $1

-- refused [COPY on a tenant table]: a copy of every tenant
COPY pages TO STDOUT

-- refused [COPY on a tenant table]: a copy without the tenant
COPY pages (id, title) FROM STDIN

-- refused [DO on a tenant table]: a block of code
DO $code$ BEGIN UPDATE pages SET status = 'active'; END; $code$

-- accepted: a plan
EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT id FROM pages WHERE tenant_id = $1

-- accepted: a prepared statement, and its plan
PREPARE by_id (uuid, uuid) AS SELECT id FROM pages WHERE tenant_id = $1 AND id = $2; EXPLAIN ANALYZE EXECUTE by_id($3, $4)

-- refused [pages pages: not bound]: a plan over every tenant
EXPLAIN ANALYZE VERBOSE SELECT id FROM pages

-- refused [pages pages: not bound]: a cursor over every tenant
DECLARE every NO SCROLL CURSOR FOR SELECT id FROM pages

-- refused [pages pages: not bound]: the second of two statements
SELECT id FROM pages WHERE tenant_id = $1; SELECT id FROM pages

-- refused [unreadable]: what cannot be read
SELECT id FROM pages WHERE tenant_id = = $1

-- accepted: what is written is read first, by an arm that is executed once and before
WITH old AS MATERIALIZED (
    SELECT page_id, words FROM search_pages WHERE tenant_id = $1 AND page_id = $2
), saved AS (
    INSERT INTO search_pages (tenant_id, owner_id, page_id, words) VALUES ($1, $3, $2, $4)
    ON CONFLICT (tenant_id, page_id) DO UPDATE SET words = excluded.words
)
SELECT words FROM old

-- refused [WITH old: it reads search_pages, which another arm writes: make it MATERIALIZED]: an arm that may be inlined
WITH old AS (
    SELECT page_id, words FROM search_pages WHERE tenant_id = $1 AND page_id = $2
), saved AS (
    INSERT INTO search_pages (tenant_id, owner_id, page_id, words) VALUES ($1, $3, $2, $4)
    ON CONFLICT (tenant_id, page_id) DO UPDATE SET words = excluded.words
)
SELECT words FROM old

-- refused [WITH old: it reads search_pages behind saved]: an arm that reads too late
WITH saved AS (
    INSERT INTO search_pages (tenant_id, owner_id, page_id, words) VALUES ($1, $3, $2, $4)
), old AS MATERIALIZED (
    SELECT page_id, words FROM search_pages WHERE tenant_id = $1 AND page_id = $2
)
SELECT words FROM old

-- refused [search_pages: read beside saved]: the statement itself reads what an arm writes
WITH saved AS (
    INSERT INTO search_pages (tenant_id, owner_id, page_id, words) VALUES ($1, $3, $2, $4)
)
SELECT count(*) FROM search_pages WHERE tenant_id = $1 AND page_id = $2

-- refused [WITH due: it reads compile_jobs]: an arm that reads what the statement itself writes
WITH due AS (SELECT id FROM compile_jobs WHERE tenant_id = $1 LIMIT 1)
UPDATE compile_jobs AS job SET status = 'running' FROM due WHERE job.tenant_id = $1 AND job.id = due.id

-- accepted: a change that reads its own table, and no other arm's
WITH gone AS (DELETE FROM page_names WHERE tenant_id = $1 AND page_id = $2 RETURNING name)
INSERT INTO activity (tenant_id, owner_id, id) SELECT $1, $3, $4 FROM gone

-- refused [anonymous row]: rows without a type, in an array
SELECT ARRAY(SELECT ROW(type, count(*)) FROM pages WHERE tenant_id = $1 GROUP BY type) AS types

-- refused [anonymous row]: rows without a type, aggregated
SELECT array_agg((id, title)) FROM pages WHERE tenant_id = $1

-- refused [anonymous row]: rows without a type, aggregated in an order
SELECT jsonb_agg(ROW(type, pages) ORDER BY pages DESC, type)
FROM (SELECT type, count(*) AS pages FROM pages WHERE tenant_id = $1 GROUP BY type) AS counted

-- refused [anonymous row]: a row without a type, as a column
SELECT (id, title) AS page FROM pages WHERE tenant_id = $1

-- accepted: rows that are compared, ordered by or told apart
SELECT DISTINCT ON (p.type, p.slug) p.id, (p.type, p.slug) = ($2, $3) AS is_it FROM pages AS p
WHERE p.tenant_id = $1 AND (p.type, p.slug) IN (SELECT a.source, a.alias FROM aliases AS a WHERE a.tenant_id = $1)
  AND ROW(p.updated_at, p.id) > ROW($4, $5) AND (p.title, p.summary) IS DISTINCT FROM ($6, $7)

-- accepted: a plan without the values, that is only shown
SET LOCAL plan_cache_mode = force_generic_plan; PREPARE explained_1 AS SELECT p.id FROM pages AS p WHERE p.tenant_id = $1

-- refused [force_generic_plan]: a plan without the values
SET LOCAL plan_cache_mode = force_generic_plan
