-- name: find_types
-- Return the types of pages; deleted pages are missing.
SELECT id, type FROM pages
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: find_pages
-- Return pages of the tenant with their titles, versions and sensitivity levels, and the headings of their sections
-- that set a level.
SELECT p.id, p.owner_id, p.type, p.title, p.version, p.metadata ->> 'sensitivity' AS level,
    ARRAY(
        SELECT s.heading FROM sections AS s
        WHERE s.tenant_id = :tenant_id AND s.page_id = p.id AND strpos(lower(s.heading), '{sensitivity=') > 0
    ) AS marked
FROM pages AS p WHERE p.tenant_id = :tenant_id AND p.id = ANY(CAST(:ids AS uuid[]));

-- name: count_open
-- Return the number of open proposals of an author in a wiki.
SELECT count(*) FROM proposals
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'open'
  AND author_kind = CAST(:author_kind AS text) AND author_id = CAST(:author_id AS text);

-- name: propose
-- Insert a proposal and its line in the activity log. Return no row if an open proposal has the same digest.
WITH made AS (
    INSERT INTO proposals (
        tenant_id, owner_id, id, page_id, page_type, title, base_version, operation, arguments, proposed_title,
        proposed_summary, proposed_body, why, evidence, significance, digest, status, author_kind, author_id, created_at,
        expires_at, sensitivity
    )
    VALUES (
        :tenant_id, :owner_id, :id, :page_id, CAST(:page_type AS text), CAST(:title AS text),
        CAST(:base_version AS integer), CAST(:operation AS text), CAST(:arguments AS jsonb), CAST(:proposed_title AS text),
        CAST(:proposed_summary AS text), CAST(:proposed_body AS text), CAST(:why AS text), CAST(:evidence AS text[]),
        CAST(:significance AS text), CAST(:digest AS bytea), 'open', CAST(:author_kind AS text), CAST(:author_id AS text),
        CAST(:now AS timestamptz),
        coalesce(CAST(:expires_at AS timestamptz), statement_timestamp() + CAST(:usual AS interval)),
        CAST(:sensitivity AS text)
    )
    ON CONFLICT (tenant_id, owner_id, digest) WHERE status = 'open' DO NOTHING
    RETURNING id, page_id
), logged AS (
    INSERT INTO activity (tenant_id, owner_id, id, at, actor_kind, actor_id, action, page_id, detail)
    SELECT CAST(:tenant_id AS uuid), CAST(:owner_id AS uuid), CAST(:line_id AS uuid), CAST(:now AS timestamptz),
           CAST(:author_kind AS text), CAST(:author_id AS text), 'proposal.opened', made.page_id,
           jsonb_build_object('proposalId', made.id)
    FROM made
)
SELECT made.id FROM made;

-- name: find_open
-- Return the open proposal with a digest.
SELECT id FROM proposals
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'open' AND digest = CAST(:digest AS bytea);

-- name: find_owner
-- Return the owner of the wiki of a proposal.
SELECT owner_id FROM proposals WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_proposal
-- Return a proposal with the current version of its page, and whether anybody but its author has changed the page
-- since.
SELECT p.id, p.owner_id, p.page_id, p.page_type, p.title, p.base_version, p.operation, p.arguments, p.proposed_body,
    p.status, p.author_kind, p.author_id, p.significance, p.sensitivity, p.expires_at, page.version AS version,
    EXISTS (
        SELECT FROM revisions AS r
        WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = p.page_id
          AND r.version > p.base_version AND (r.author_kind, r.author_id) <> (p.author_kind, p.author_id)
    ) AS is_moved_by_others
FROM proposals AS p
LEFT JOIN pages AS page ON page.tenant_id = :tenant_id AND page.owner_id = p.owner_id AND page.id = p.page_id
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.id = :id;

-- name: is_written_otherwise
-- Return whether anybody but the author of a proposal has written a page, or a later proposal for it was accepted.
SELECT EXISTS (
    SELECT FROM revisions AS r
    WHERE r.tenant_id = :tenant_id AND r.owner_id = :owner_id AND r.page_id = :page_id
      AND (r.author_kind, r.author_id) <> (CAST(:author_kind AS text), CAST(:author_id AS text))
) OR EXISTS (
    SELECT FROM proposals AS later
    WHERE later.tenant_id = :tenant_id AND later.owner_id = :owner_id AND later.page_id = :page_id
      AND later.status = 'accepted' AND later.id > :id
);

-- name: decide
-- Store the decision about an open proposal. Return no row if the proposal is not open, or has expired and is to be
-- accepted.
UPDATE proposals SET
    status = CAST(:status AS text), decided_at = CAST(:now AS timestamptz), decider_kind = CAST(:actor_kind AS text),
    decider_id = CAST(:actor_id AS text), reason = CAST(:reason AS text)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND status = 'open'
  AND (expires_at > statement_timestamp() OR CAST(:status AS text) <> 'accepted')
RETURNING page_id, operation;

-- name: set_accepted_page
-- Store the page of an accepted proposal and the version that it made. Both are in another wiki now if the proposal was
-- to transfer the page.
UPDATE proposals SET
    page_id = CAST(:page_id AS uuid), accepted_version = CAST(:version AS integer), title = coalesce(
        (
            SELECT page.title FROM pages AS page
            WHERE page.tenant_id = :tenant_id AND page.id = CAST(:page_id AS uuid)
        ),
        title
    )
WHERE tenant_id = :tenant_id AND id = :id;

-- name: log
-- Insert a line about a proposal into the activity log, without any of its content.
INSERT INTO activity (tenant_id, owner_id, id, at, actor_kind, actor_id, action, page_id, detail)
VALUES (
    :tenant_id, :owner_id, :line_id, CAST(:now AS timestamptz), CAST(:actor_kind AS text), CAST(:actor_id AS text),
    CAST(:action AS text), CAST(:page_id AS uuid), CAST(:detail AS jsonb)
);

-- name: find_compiled
-- Return the citations of the compiler's proposals for pages of these titles that wait or were declined.
SELECT p.title, p.arguments -> 'citations' AS citations FROM proposals AS p
WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.operation = 'write_cited'
  AND p.author_kind = 'compiler' AND p.status IN ('open', 'declined') AND p.title = ANY(CAST(:titles AS text[]));

-- name: find_expired
-- Return the wikis of a tenant with overdue proposals.
SELECT DISTINCT owner_id FROM proposals
WHERE tenant_id = :tenant_id AND status = 'open' AND expires_at <= statement_timestamp()
ORDER BY owner_id;

-- name: expire
-- Expire a batch of overdue proposals of a wiki. Proposals that are locked by a decision are skipped.
UPDATE proposals SET status = 'expired', decided_at = CAST(:now AS timestamptz)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = ANY(ARRAY(
    SELECT p.id FROM proposals AS p
    WHERE p.tenant_id = :tenant_id AND p.owner_id = :owner_id AND p.status = 'open'
      AND p.expires_at <= statement_timestamp()
    ORDER BY p.expires_at, p.id
    LIMIT CAST(:size AS integer)
    FOR UPDATE SKIP LOCKED
))
RETURNING id, page_id, page_type, operation, significance, sensitivity, author_kind, author_id;

-- name: expire_of_page
-- Expire the open proposals about a page that is deleted or transferred, and return them.
UPDATE proposals SET status = 'expired', decided_at = CAST(:now AS timestamptz), reason = CAST(:reason AS text)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND page_id = :page_id AND status = 'open'
RETURNING id, page_id, page_type, operation, significance, sensitivity, author_kind, author_id;

-- name: find_policy
-- Return the write policy of a wiki.
SELECT write_policy FROM owners WHERE tenant_id = :tenant_id AND id = :owner_id;
