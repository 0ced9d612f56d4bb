"""Tables of the installation, tenants, owners, grants, credentials, and the audit log."""

from sqlalchemy import (
    ARRAY,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    Uuid,
    text,
    true,
)

from .columns import document, identifier, listed, metadata, number, one_of, scoped_table, timestamp, words

installation = Table(
    "installation",
    metadata,
    Column("id", Boolean, nullable=False, server_default=true()),
    words("oldest_revision"),
    identifier("history_id"),
    PrimaryKeyConstraint("id", name="installation_pk"),
    CheckConstraint("id", name="installation_id_ck"),
)
"""One row: the oldest schema revision whose release works with this database, and the id of the database's history."""

tenants = Table(
    "tenants",
    metadata,
    identifier("tenant_id"),
    words("slug"),
    words("name"),
    document("settings"),
    timestamp("created_at"),
    PrimaryKeyConstraint("tenant_id", name="tenants_pk"),
    UniqueConstraint("slug", name="tenants_slug_uq"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column(
        "key_hash", LargeBinary, nullable=False, comment="SHA-256 of 256 random bits; the key itself is never stored"
    ),
    identifier("tenant_id"),
    identifier("id"),
    words("name"),
    *one_of("api_keys", "role", "reader", "member", "service", "admin"),
    Column("owner_ids", ARRAY(Uuid), nullable=False, comment="the owners it speaks for; the first is its own scope"),
    timestamp("created_at"),
    timestamp("expires_at", nullable=True),
    timestamp("revoked_at", nullable=True),
    words("actor_kind", default="service"),
    listed("scopes"),
    listed("networks"),
    timestamp("used_at", nullable=True),
    Column("former_hash", LargeBinary, comment="of the secret before the last one"),
    timestamp("former_until", nullable=True),
    PrimaryKeyConstraint("key_hash", name="api_keys_pk"),
    UniqueConstraint("tenant_id", "id", name="api_keys_id_uq"),
    CheckConstraint("isfinite(expires_at)", name="api_keys_expires_ck"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="api_keys_tenant_fk", ondelete="CASCADE"),
    Index("api_keys_former_uq", "former_hash", unique=True),
)

owners = Table(
    "owners",
    metadata,
    identifier("tenant_id"),
    identifier("id"),
    *one_of("owners", "kind", "agent", "user", "shared"),
    words("slug"),
    words("name"),
    timestamp("created_at"),
    words("language", default="english"),
    Column("score_boost", Double, nullable=False, server_default=text("0.9")),
    number("min_sources_for_synthesis", default=3),
    document("write_policy", default="[]"),
    number("stale_after_days", default=90),
    number("oversize_characters", default=20_000),
    number("lint_min_pages", default=3),
    number("lint_every_days", default=7),
    number("lint_after_sources", default=5),
    Column("requires_sensitivity", Boolean, nullable=False, server_default=text("false")),
    words("reader_ceiling", default="internal"),
    words("member_ceiling", default="confidential"),
    words("decision_threshold", default="medium"),
    PrimaryKeyConstraint("tenant_id", "id", name="owners_pk"),
    UniqueConstraint("tenant_id", "slug", name="owners_slug_uq"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="owners_tenant_fk", ondelete="CASCADE"),
    Index("owners_shared_ix", "tenant_id", "slug", postgresql_where=text("kind = 'shared'")),
)

grants = Table(
    "grants",
    metadata,
    identifier("tenant_id"),
    identifier("owner_id"),
    identifier("grantee_id"),
    *one_of("grants", "role", "reader", "member", "admin"),
    timestamp("created_at"),
    PrimaryKeyConstraint("tenant_id", "grantee_id", "owner_id", name="grants_pk"),
    ForeignKeyConstraint(
        ["tenant_id", "owner_id"], ["owners.tenant_id", "owners.id"], name="grants_owner_fk", ondelete="CASCADE"
    ),
    ForeignKeyConstraint(
        ["tenant_id", "grantee_id"], ["owners.tenant_id", "owners.id"], name="grants_grantee_fk", ondelete="CASCADE"
    ),
)

# Programs that a user has authorized for a wiki by OAuth. Codes and refresh tokens are stored as hashes.
oauth_authorizations = scoped_table(
    "oauth_authorizations",
    Column("client_hash", LargeBinary, nullable=False, comment="SHA-256 of the client's id"),
    words("client_name"),
    *one_of("oauth_authorizations", "role", "reader", "member", "service", "admin"),
    words("author"),
    listed("scopes"),
    words("resource"),
    words("redirect_uri"),
    Column("redirect_is_given", Boolean, nullable=False),
    Column("code_hash", LargeBinary, nullable=False, comment="SHA-256 of the code; it is never stored"),
    words("code_challenge"),
    timestamp("code_expires_at"),
    timestamp("redeemed_at", nullable=True),
    Column("refresh_hash", LargeBinary, comment="SHA-256 of the refresh token; it is never stored"),
    Column("former_hash", LargeBinary, comment="of the refresh token before, by which theft shows"),
    timestamp("created_at"),
    timestamp("used_at", nullable=True),
    timestamp("expires_at"),
    timestamp("withdrawn_at", nullable=True),
)
AUTHORIZATIONS = oauth_authorizations.c
Index("oauth_authorizations_code_uq", AUTHORIZATIONS.tenant_id, AUTHORIZATIONS.code_hash, unique=True)
Index("oauth_authorizations_refresh_uq", AUTHORIZATIONS.tenant_id, AUTHORIZATIONS.refresh_hash, unique=True)
Index("oauth_authorizations_former_ix", AUTHORIZATIONS.tenant_id, AUTHORIZATIONS.former_hash)
Index("oauth_authorizations_owner_ix", AUTHORIZATIONS.tenant_id, AUTHORIZATIONS.owner_id, AUTHORIZATIONS.id.desc())
# Erasures, as numbers only. A row outlives its tenant, so the table has no foreign key.
erasures = Table(
    "erasures",
    metadata,
    identifier("tenant_id"),
    identifier("id"),
    *one_of("erasures", "kind", "tenant", "owner", "sources"),
    identifier("owner_id", nullable=True),
    words("erased_by"),
    document("counts"),
    timestamp("erased_at"),
    PrimaryKeyConstraint("tenant_id", "id", name="erasures_pk"),
)

# The audit log. Rows are only added, and deleted only by retention and erasure. The operator's rows have the nil UUID
# as tenant, which does not exist, so the table has no foreign key.
audit_events = Table(
    "audit_events",
    metadata,
    identifier("tenant_id"),
    identifier("id"),
    timestamp("at"),
    words("action"),
    *one_of("audit_events", "outcome", "done", "refused"),
    *one_of("audit_events", "actor_kind", "agent", "user", "compiler", "service", nullable=True),
    words("actor_id", nullable=True),
    words("subject", nullable=True),
    words("address", nullable=True),
    words("request_id", nullable=True),
    document("detail"),
    number("times", default=1),
    PrimaryKeyConstraint("tenant_id", "id", name="audit_events_pk"),
)
Index(
    "audit_events_action_ix",
    audit_events.c.tenant_id,
    audit_events.c.action,
    audit_events.c.id.desc(),
)
