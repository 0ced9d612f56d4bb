"""Tables of what is reviewed: superseded claims, contradictions, proposals and decision questions."""

from sqlalchemy import Column, Index, LargeBinary, UniqueConstraint, text

from .columns import document, identifier, listed, number, one_of, refers, scoped_table, timestamp, words

# Superseded claims: what a page said until a correction. A withdrawn one stays, so that it is not recorded again.
superseded_claims = scoped_table(
    "superseded_claims",
    identifier("page_id"),
    words("section_slug", nullable=True),
    words("heading", nullable=True),
    words("fact"),
    words("replacement"),
    identifier("stated_by_id", nullable=True),
    identifier("overridden_by_id", nullable=True),
    timestamp("superseded_on"),
    Column("digest", LargeBinary, nullable=False, comment="SHA-256 of the fact and of the source that overrode it"),
    *one_of("superseded_claims", "author_kind", "agent", "user", "compiler", "service"),
    words("author_id"),
    timestamp("withdrawn_at", nullable=True),
    timestamp("created_at"),
    UniqueConstraint("tenant_id", "page_id", "digest", name="superseded_claims_digest_uq"),
    refers("superseded_claims", "page_id", "pages"),
    refers("superseded_claims", "stated_by_id", "sources"),
    refers("superseded_claims", "overridden_by_id", "sources"),
)
Index(
    "superseded_claims_page_ix", superseded_claims.c.tenant_id, superseded_claims.c.page_id,
    superseded_claims.c.superseded_on.desc(), superseded_claims.c.id.desc(),
    postgresql_where=text("withdrawn_at IS NULL"),
)  # fmt: skip
Index("superseded_claims_stated_ix", superseded_claims.c.tenant_id, superseded_claims.c.stated_by_id)
Index("superseded_claims_overridden_ix", superseded_claims.c.tenant_id, superseded_claims.c.overridden_by_id)


# Contradictions: two claims of a page that cannot both hold. A decided one stays, so that it is not recorded again.
contradictions = scoped_table(
    "contradictions",
    identifier("page_id"),
    words("older_claim"),
    words("older_section_slug", nullable=True),
    identifier("older_source_id", nullable=True),
    timestamp("older_on"),
    number("older_support"),
    words("newer_claim"),
    words("newer_section_slug", nullable=True),
    identifier("newer_source_id", nullable=True),
    timestamp("newer_on"),
    number("newer_support"),
    Column("digest", LargeBinary, nullable=False, comment="SHA-256 of both claims"),
    *one_of("contradictions", "status", "open", "resolved", "dismissed"),
    *one_of("contradictions", "resolution", "keep_newer", "keep_older", "both_hold", nullable=True),
    words("reason", nullable=True),
    timestamp("resolved_at", nullable=True),
    *one_of("contradictions", "resolver_kind", "agent", "user", "compiler", "service", nullable=True),
    words("resolver_id", nullable=True),
    *one_of("contradictions", "author_kind", "agent", "user", "compiler", "service"),
    words("author_id"),
    timestamp("created_at"),
    UniqueConstraint("tenant_id", "page_id", "digest", name="contradictions_digest_uq"),
    refers("contradictions", "page_id", "pages"),
    refers("contradictions", "older_source_id", "sources"),
    refers("contradictions", "newer_source_id", "sources"),
)
Index(
    "contradictions_owner_ix", contradictions.c.tenant_id, contradictions.c.owner_id, contradictions.c.id.desc()
)  # fmt: skip
Index("contradictions_page_ix", contradictions.c.tenant_id, contradictions.c.page_id, contradictions.c.id.desc())
Index("contradictions_older_source_ix", contradictions.c.tenant_id, contradictions.c.older_source_id)
Index("contradictions_newer_source_ix", contradictions.c.tenant_id, contradictions.c.newer_source_id)


# A proposal: a write that waits for a reviewer. It has the operation as data, and the page as it would be afterwards.
# The page id is null if the operation creates the page; `base_version` is the version on which the operation is based.
proposals = scoped_table(
    "proposals",
    identifier("page_id", nullable=True),
    words("page_type", nullable=True),
    words("title", nullable=True),
    number("base_version", nullable=True),
    words("operation"),
    document("arguments"),
    words("proposed_title", nullable=True),
    words("proposed_summary", nullable=True),
    words("proposed_body", nullable=True),
    words("why", nullable=True),
    listed("evidence"),
    *one_of("proposals", "significance", "low", "medium", "high"),
    Column("digest", LargeBinary, nullable=False, comment="SHA-256 of the author, the operation and its base version"),
    *one_of("proposals", "status", "open", "accepted", "declined", "withdrawn", "expired"),
    *one_of("proposals", "author_kind", "agent", "user", "compiler", "service"),
    words("author_id"),
    timestamp("created_at"),
    timestamp("expires_at"),
    timestamp("decided_at", nullable=True),
    *one_of("proposals", "decider_kind", "agent", "user", "compiler", "service", nullable=True),
    words("decider_id", nullable=True),
    words("reason", nullable=True),
    number("accepted_version", nullable=True),
    words("sensitivity", nullable=True),
    refers("proposals", "page_id", "pages"),
)
Index("proposals_owner_ix", proposals.c.tenant_id, proposals.c.owner_id, proposals.c.id.desc())
Index("proposals_page_ix", proposals.c.tenant_id, proposals.c.page_id, proposals.c.id.desc())
Index(
    "proposals_open_uq", proposals.c.tenant_id, proposals.c.owner_id, proposals.c.digest,
    unique=True, postgresql_where=text("status = 'open'"),
)  # fmt: skip
Index("proposals_expiry_ix", proposals.c.tenant_id, proposals.c.expires_at, postgresql_where=text("status = 'open'"))


# Decision questions, open or decided. The page is that of the decision, if there is one.
decision_questions = scoped_table(
    "decision_questions",
    words("question"),
    words("why"),
    listed("options"),
    *one_of("decision_questions", "significance", "low", "medium", "high"),
    *one_of("decision_questions", "status", "open", "decided", "withdrawn"),
    words("decision", nullable=True),
    identifier("page_id", nullable=True),
    *one_of("decision_questions", "author_kind", "agent", "user", "compiler", "service"),
    words("author_id"),
    timestamp("created_at"),
    timestamp("decided_at", nullable=True),
    words("reason", nullable=True),
    refers("decision_questions", "page_id", "pages"),
)
Index(
    "decision_questions_owner_ix", decision_questions.c.tenant_id, decision_questions.c.owner_id,
    decision_questions.c.id.desc(),
)  # fmt: skip
Index("decision_questions_page_ix", decision_questions.c.tenant_id, decision_questions.c.page_id)
