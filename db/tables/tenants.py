"""Tenants, the owners inside them, and who may use what."""

from sqlalchemy import (
    ARRAY,
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
)

from .columns import document, identifier, metadata, moment, number, one_of, words

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
