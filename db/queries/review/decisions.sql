-- name: find_threshold
-- Return the significance from which on a decision gets a page.
SELECT decision_threshold FROM owners WHERE tenant_id = :tenant_id AND id = :owner_id;

-- name: find_owner
-- Return the owner of a question.
SELECT owner_id FROM decision_questions WHERE tenant_id = :tenant_id AND id = :id;

-- name: find_question
-- Return a question of the wiki.
SELECT id, question, why, options, significance, status, page_id FROM decision_questions
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id;

-- name: count_open
-- Return the number of open questions of a wiki.
SELECT count(*) FROM decision_questions WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND status = 'open';

-- name: ask
-- Insert an open question.
INSERT INTO decision_questions (
    tenant_id, owner_id, id, question, why, options, significance, status, author_kind, author_id, created_at
)
VALUES (
    :tenant_id, :owner_id, :id, CAST(:question AS text), CAST(:why AS text), CAST(:options AS text[]),
    CAST(:significance AS text), 'open', CAST(:author_kind AS text), CAST(:author_id AS text),
    CAST(:now AS timestamptz)
);

-- name: decide
-- Store the decision of an open question. Return no row if the question is not open.
UPDATE decision_questions SET
    status = 'decided', decision = CAST(:decision AS text), page_id = CAST(:page_id AS uuid),
    decided_at = CAST(:now AS timestamptz)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND status = 'open'
RETURNING id;

-- name: withdraw
-- Withdraw an open question. Return no row if the question is not open.
UPDATE decision_questions SET
    status = 'withdrawn', reason = CAST(:reason AS text), decided_at = CAST(:now AS timestamptz)
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND id = :id AND status = 'open'
RETURNING id;
