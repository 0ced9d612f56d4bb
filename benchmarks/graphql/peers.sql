-- The schema that PostGraphile serves: views of the active pages in Cairn's tables and of the rows that belong to them,
-- and functions.
CREATE SCHEMA peers;

CREATE VIEW peers.pages AS
SELECT tenant_id, owner_id, id, type, slug, title, summary, parent_page_id, hubness_score
FROM pages WHERE status = 'active';
CREATE VIEW peers.sections AS
SELECT tenant_id, id, page_id, section_slug, heading, body_md, position FROM sections;
CREATE VIEW peers.aliases AS
SELECT tenant_id, id, page_id, alias FROM aliases;
CREATE VIEW peers.links AS
SELECT l.tenant_id, l.id, l.from_page_id, l.to_page_id, l.kind FROM links AS l
JOIN pages AS p ON p.tenant_id = l.tenant_id AND p.id = l.to_page_id AND p.status = 'active';
CREATE VIEW peers.edges AS
SELECT tenant_id, from_page_id, to_page_id, max(kind) AS kind FROM links GROUP BY tenant_id, from_page_id, to_page_id;

COMMENT ON VIEW peers.pages IS E'@name page
@primaryKey tenant_id,id
@unique tenant_id,owner_id,type,slug|@fieldName pageBySlug
@foreignKey (tenant_id,parent_page_id) references peers.pages (tenant_id,id)|@fieldName parent|@foreignFieldName children';
COMMENT ON VIEW peers.sections IS E'@primaryKey tenant_id,id
@foreignKey (tenant_id,page_id) references peers.pages (tenant_id,id)|@foreignFieldName sections';
COMMENT ON VIEW peers.aliases IS E'@primaryKey tenant_id,id
@foreignKey (tenant_id,page_id) references peers.pages (tenant_id,id)|@foreignFieldName aliases';
COMMENT ON VIEW peers.links IS E'@primaryKey tenant_id,id
@foreignKey (tenant_id,to_page_id) references peers.pages (tenant_id,id)|@fieldName toPage';
COMMENT ON VIEW peers.edges IS E'@primaryKey tenant_id,from_page_id,to_page_id';

CREATE FUNCTION peers.pages_backlinks(page peers.pages) RETURNS SETOF peers.pages LANGUAGE sql STABLE AS $$
    SELECT o.* FROM peers.pages AS o
    WHERE o.tenant_id = page.tenant_id AND o.id IN (
        SELECT l.from_page_id FROM links AS l WHERE l.tenant_id = page.tenant_id AND l.to_page_id = page.id)
    ORDER BY o.hubness_score DESC, o.id DESC
$$;
CREATE FUNCTION peers.pages_outgoing(page peers.pages) RETURNS SETOF peers.links LANGUAGE sql STABLE AS $$
    SELECT l.* FROM peers.links AS l WHERE l.tenant_id = page.tenant_id AND l.from_page_id = page.id ORDER BY l.id
$$;
CREATE FUNCTION peers.pages_edge_count(page peers.pages) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT count(*)::integer FROM peers.pages AS o
    WHERE o.tenant_id = page.tenant_id AND o.id IN (
        SELECT l.to_page_id FROM links AS l WHERE l.tenant_id = page.tenant_id AND l.from_page_id = page.id
        UNION SELECT l.from_page_id FROM links AS l WHERE l.tenant_id = page.tenant_id AND l.to_page_id = page.id)
$$;
CREATE FUNCTION peers.pages_neighbours(page peers.pages) RETURNS SETOF peers.pages LANGUAGE sql STABLE AS $$
    SELECT o.* FROM peers.pages AS o
    WHERE o.tenant_id = page.tenant_id AND o.id IN (
        SELECT page.id
        UNION SELECT l.to_page_id FROM links AS l WHERE l.tenant_id = page.tenant_id AND l.from_page_id = page.id
        UNION SELECT l.from_page_id FROM links AS l WHERE l.tenant_id = page.tenant_id AND l.to_page_id = page.id)
    ORDER BY o.id <> page.id, o.hubness_score DESC, o.id DESC
$$;
CREATE FUNCTION peers.pages_neighbour_edges(page peers.pages) RETURNS SETOF peers.edges LANGUAGE sql STABLE AS $$
    WITH near AS MATERIALIZED (SELECT n.id FROM peers.pages_neighbours(page) AS n)
    SELECT e.tenant_id, e.from_page_id, e.to_page_id, max(e.kind) FROM links AS e
    WHERE e.tenant_id = page.tenant_id AND e.from_page_id IN (SELECT near.id FROM near)
      AND e.to_page_id IN (SELECT near.id FROM near)
    GROUP BY e.tenant_id, e.from_page_id, e.to_page_id ORDER BY e.from_page_id, e.to_page_id
$$;
CREATE FUNCTION peers.greatest_hubs(tenant uuid, owner uuid, types text[]) RETURNS SETOF peers.pages
LANGUAGE sql STABLE AS $$
    SELECT p.* FROM peers.pages AS p
    WHERE p.tenant_id = greatest_hubs.tenant AND p.owner_id = greatest_hubs.owner AND p.type = ANY(greatest_hubs.types)
    ORDER BY p.hubness_score DESC, p.id DESC
$$;

-- The hits of a search. The function that returns them is created together with its questions (questions.py).
CREATE VIEW peers.hits AS
SELECT tenant_id, id AS page_id, CAST(0 AS float8) AS score FROM pages;
COMMENT ON VIEW peers.hits IS E'@primaryKey tenant_id,page_id
@foreignKey (tenant_id,page_id) references peers.pages (tenant_id,id)|@fieldName page';

-- Write the same rows as Cairn: the page's time of change, the target's hubness score, and an activity log entry.
CREATE FUNCTION peers.relinked(tenant uuid, owner uuid, from_page uuid, to_page uuid, action text) RETURNS void
LANGUAGE sql AS $$
    UPDATE pages SET updated_at = now() WHERE tenant_id = relinked.tenant AND id = relinked.from_page;
    UPDATE pages AS p SET hubness_score = (
        SELECT count(*) FROM links AS l
        JOIN pages AS f ON f.tenant_id = l.tenant_id AND f.id = l.from_page_id AND f.status = 'active'
        WHERE l.tenant_id = relinked.tenant AND l.to_page_id = relinked.to_page AND l.kind = 'reference'
    ) + 2 * (
        SELECT count(*) FROM pages AS c
        WHERE c.tenant_id = relinked.tenant AND c.parent_page_id = relinked.to_page AND c.status = 'active')
    WHERE p.tenant_id = relinked.tenant AND p.id = relinked.to_page;
    INSERT INTO activity (tenant_id, owner_id, id, at, actor_kind, actor_id, action, page_id, detail)
    VALUES (relinked.tenant, relinked.owner, uuidv7(), now(), 'user', 'benchmark', relinked.action, relinked.from_page,
            jsonb_build_object('toPageId', relinked.to_page, 'reasons', jsonb_build_array('manual')));
$$;
COMMENT ON FUNCTION peers.relinked IS E'@behavior -*';
CREATE FUNCTION peers.link_pages(tenant uuid, owner uuid, from_page uuid, to_page uuid) RETURNS peers.pages
LANGUAGE sql AS $$
    SELECT id FROM owners WHERE tenant_id = link_pages.tenant AND id = link_pages.owner FOR NO KEY UPDATE;
    INSERT INTO links (tenant_id, owner_id, id, from_page_id, to_page_id, kind, reasons)
    VALUES (link_pages.tenant, link_pages.owner, uuidv7(), link_pages.from_page, link_pages.to_page, 'reference',
            '{manual}')
    ON CONFLICT DO NOTHING;
    SELECT peers.relinked(link_pages.tenant, link_pages.owner, link_pages.from_page, link_pages.to_page, 'link.added');
    SELECT p.* FROM peers.pages AS p WHERE p.tenant_id = link_pages.tenant AND p.id = link_pages.from_page;
$$;
CREATE FUNCTION peers.unlink_pages(tenant uuid, owner uuid, from_page uuid, to_page uuid) RETURNS peers.pages
LANGUAGE sql AS $$
    SELECT id FROM owners WHERE tenant_id = unlink_pages.tenant AND id = unlink_pages.owner FOR NO KEY UPDATE;
    DELETE FROM links
    WHERE tenant_id = unlink_pages.tenant AND from_page_id = unlink_pages.from_page
      AND to_page_id = unlink_pages.to_page AND kind = 'reference';
    SELECT peers.relinked(
        unlink_pages.tenant, unlink_pages.owner, unlink_pages.from_page, unlink_pages.to_page, 'link.removed');
    SELECT p.* FROM peers.pages AS p WHERE p.tenant_id = unlink_pages.tenant AND p.id = unlink_pages.from_page;
$$;
