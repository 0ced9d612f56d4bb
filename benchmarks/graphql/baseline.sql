-- name: page
-- A page by its slug, with sections, aliases, parent and ten backlinks.
SELECT json_build_object('wikiPage', (
    SELECT json_build_object(
        'id', p.id, 'title', p.title, 'slug', p.slug, 'summary', p.summary,
        'sections', (
            SELECT coalesce(json_agg(json_build_object(
                'sectionSlug', s.section_slug, 'heading', s.heading, 'bodyMd', s.body_md) ORDER BY s.position), '[]')
            FROM sections AS s WHERE s.tenant_id = :tenant AND s.page_id = p.id),
        'aliases', (
            SELECT coalesce(json_agg(a.alias ORDER BY a.alias), '[]')
            FROM aliases AS a WHERE a.tenant_id = :tenant AND a.page_id = p.id),
        'parent', (
            SELECT json_build_object('id', u.id, 'title', u.title) FROM pages AS u
            WHERE u.tenant_id = :tenant AND u.id = p.parent_page_id AND u.status = 'active'),
        'backlinks', (
            SELECT json_build_object('nodes', coalesce(json_agg(json_build_object(
                'id', b.id, 'title', b.title, 'slug', b.slug)), '[]'))
            FROM (
                SELECT o.id, o.title, o.slug FROM pages AS o
                WHERE o.tenant_id = :tenant AND o.status = 'active' AND o.id IN (
                    SELECT l.from_page_id FROM links AS l WHERE l.tenant_id = :tenant AND l.to_page_id = p.id)
                ORDER BY o.hubness_score DESC, o.id DESC LIMIT 10) AS b))
    FROM pages AS p
    WHERE p.tenant_id = :tenant AND p.owner_id = :owner AND p.type = :type AND p.slug = :slug
      AND p.status = 'active'));

-- name: list
-- Fifty pages of some types, each with its parent, its children and grandchildren, and three backlinks.
SELECT json_build_object('wikiPages', json_build_object('nodes', coalesce(json_agg(node), '[]')))
FROM (
    SELECT json_build_object(
        'id', p.id, 'title', p.title, 'slug', p.slug,
        'parent', (
            SELECT json_build_object('id', u.id, 'title', u.title) FROM pages AS u
            WHERE u.tenant_id = :tenant AND u.id = p.parent_page_id AND u.status = 'active'),
        'children', (
            SELECT coalesce(json_agg(json_build_object('id', c.id, 'title', c.title, 'children', (
                SELECT coalesce(json_agg(json_build_object('id', g.id, 'title', g.title)), '[]')
                FROM (
                    SELECT d.id, d.title FROM pages AS d
                    WHERE d.tenant_id = :tenant AND d.parent_page_id = c.id AND d.status = 'active'
                    ORDER BY d.title, d.id LIMIT 3) AS g))), '[]')
            FROM (
                SELECT d.id, d.title FROM pages AS d
                WHERE d.tenant_id = :tenant AND d.parent_page_id = p.id AND d.status = 'active'
                ORDER BY d.title, d.id LIMIT 5) AS c),
        'backlinks', (
            SELECT json_build_object('nodes', coalesce(json_agg(json_build_object('id', b.id, 'title', b.title)), '[]'))
            FROM (
                SELECT o.id, o.title FROM pages AS o
                WHERE o.tenant_id = :tenant AND o.status = 'active' AND o.id IN (
                    SELECT l.from_page_id FROM links AS l WHERE l.tenant_id = :tenant AND l.to_page_id = p.id)
                ORDER BY o.hubness_score DESC, o.id DESC LIMIT 3) AS b)) AS node
    FROM pages AS p
    WHERE p.tenant_id = :tenant AND p.owner_id = :owner AND p.status = 'active' AND p.type = ANY(:types)
    ORDER BY p.hubness_score DESC, p.id DESC LIMIT 50) AS nodes;

-- name: graph
-- A page, the pages one link away, and the links among all of them.
WITH near AS MATERIALIZED (
    SELECT p.id, 0 AS depth, p.title, p.slug, p.hubness_score FROM pages AS p
    WHERE p.tenant_id = :tenant AND p.owner_id = :owner AND p.id = :page AND p.status = 'active'
    UNION ALL
    SELECT o.id, 1, o.title, o.slug, o.hubness_score FROM pages AS o
    WHERE o.tenant_id = :tenant AND o.status = 'active' AND o.id IN (
        SELECT l.to_page_id FROM links AS l WHERE l.tenant_id = :tenant AND l.from_page_id = :page
        UNION SELECT l.from_page_id FROM links AS l WHERE l.tenant_id = :tenant AND l.to_page_id = :page)
)
SELECT json_build_object('wikiNeighbourhood', (
    SELECT json_build_object(
        'page', json_build_object('id', middle.id, 'title', middle.title),
        'nodes', (
            SELECT json_agg(json_build_object('id', n.id, 'label', n.title, 'slug', n.slug, 'edgeCount', (
                SELECT count(*) FROM pages AS o
                WHERE o.tenant_id = :tenant AND o.status = 'active' AND o.id IN (
                    SELECT l.to_page_id FROM links AS l WHERE l.tenant_id = :tenant AND l.from_page_id = n.id
                    UNION SELECT l.from_page_id FROM links AS l WHERE l.tenant_id = :tenant AND l.to_page_id = n.id))))
            FROM (SELECT * FROM near ORDER BY depth, hubness_score DESC, id DESC LIMIT 50) AS n),
        'edges', (
            SELECT coalesce(json_agg(json_build_object(
                'source', e.from_page_id, 'target', e.to_page_id, 'kind', upper(e.kind))), '[]')
            FROM (
                SELECT l.from_page_id, l.to_page_id, max(l.kind) AS kind FROM links AS l
                WHERE l.tenant_id = :tenant AND l.from_page_id IN (SELECT near.id FROM near)
                  AND l.to_page_id IN (SELECT near.id FROM near)
                GROUP BY l.from_page_id, l.to_page_id ORDER BY l.from_page_id, l.to_page_id LIMIT 200) AS e))
    FROM near AS middle WHERE middle.depth = 0));
