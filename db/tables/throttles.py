"""What is left of the rows that a credential, and a tenant, may ask for: token buckets that all processes share."""

from sqlalchemy import Column, Double, ForeignKeyConstraint, PrimaryKeyConstraint, Table, Text

from .columns import identifier, metadata

throttles = Table(
    "throttles",
    metadata,
    identifier("tenant_id"),
    Column("subject", Text, nullable=False, comment="kind and id of the actor; empty for the tenant"),
    Column("tokens", Double, nullable=False, comment="in rows, at the moment `at`"),
    Column("leased", Double, nullable=False, comment="what the last one who asked was given"),
    Column("at", Double, nullable=False, comment="seconds since 1970 by the clock of the server"),
    PrimaryKeyConstraint("tenant_id", "subject", name="throttles_pk"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="throttles_tenant_fk", ondelete="CASCADE"),
)
