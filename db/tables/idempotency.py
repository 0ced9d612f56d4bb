"""Answers to writes that carried an idempotency key."""

from sqlalchemy import Column, ForeignKeyConstraint, Index, LargeBinary, PrimaryKeyConstraint, Table

from .columns import identifier, metadata, moment

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    identifier("tenant_id"),
    Column("digest", LargeBinary, nullable=False, comment="SHA-256 of the credential and its key"),
    Column("request", LargeBinary, nullable=False, comment="SHA-256 of what was asked"),
    Column("answer", LargeBinary, nullable=False),
    moment("created_at"),
    PrimaryKeyConstraint("tenant_id", "digest", name="idempotency_keys_pk"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="idempotency_keys_tenant_fk", ondelete="CASCADE"),
    Index("idempotency_keys_created_ix", "tenant_id", "created_at"),
)
