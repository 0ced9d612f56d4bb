"""The installation, its tenants, the owners inside them, and who may use what."""

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

from .columns import document, identifier, metadata, moment, number, one_of, words

installation = Table(
    "installation",
    metadata,
    Column("id", Boolean, nullable=False, server_default=true()),
    words("oldest_revision"),
    identifier("history_id"),
    PrimaryKeyConstraint("id", name="installation_pk"),
    CheckConstraint("id", name="installation_id_ck"),
)
"""One row: the oldest revision whose release works beside this database, and which history the database holds."""

tenants = Table(
    "tenants",
    metadata,
    identifier("tenant_id"),
    words("slug"),
    words("name"),
    document("settings"),
    moment("created_at"),
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
    moment("created_at"),
    moment("expires_at", nullable=True),
    moment("revoked_at", nullable=True),
    words("actor_kind", default="service"),
    PrimaryKeyConstraint("key_hash", name="api_keys_pk"),
    UniqueConstraint("tenant_id", "id", name="api_keys_id_uq"),
    CheckConstraint("isfinite(expires_at)", name="api_keys_expires_ck"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="api_keys_tenant_fk", ondelete="CASCADE"),
)

owners = Table(
    "owners",
    metadata,
    identifier("tenant_id"),
    identifier("id"),
    *one_of("owners", "kind", "agent", "user", "shared"),
    words("slug"),
    words("name"),
    moment("created_at"),
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
    moment("created_at"),
    PrimaryKeyConstraint("tenant_id", "grantee_id", "owner_id", name="grants_pk"),
    ForeignKeyConstraint(
        ["tenant_id", "owner_id"], ["owners.tenant_id", "owners.id"], name="grants_owner_fk", ondelete="CASCADE"
    ),
    ForeignKeyConstraint(
        ["tenant_id", "grantee_id"], ["owners.tenant_id", "owners.id"], name="grants_grantee_fk", ondelete="CASCADE"
    ),
)
