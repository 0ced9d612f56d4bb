"""Tables of requests: idempotency keys, rate limits and calls of tools."""

from sqlalchemy import Column, Date, Double, ForeignKeyConstraint, Index, LargeBinary, PrimaryKeyConstraint, Table, Text

from .columns import identifier, metadata, number, scoped_table, timestamp, words

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    identifier("tenant_id"),
    Column("digest", LargeBinary, nullable=False, comment="SHA-256 of the credential and its key"),
    Column("request", LargeBinary, nullable=False, comment="SHA-256 of what was asked"),
    Column("answer", LargeBinary, nullable=False),
    timestamp("created_at"),
    PrimaryKeyConstraint("tenant_id", "digest", name="idempotency_keys_pk"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="idempotency_keys_tenant_fk", ondelete="CASCADE"),
    Index("idempotency_keys_created_ix", "tenant_id", "created_at"),
)


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


tool_calls = scoped_table(
    "tool_calls",
    Column("day", Date, nullable=False, comment="in UTC"),
    words("tool"),
    identifier("page_id"),
    number("calls"),
    key=("owner_id", "day", "tool", "page_id"),
)
"""Numbers of calls. A call counts once with the nil UUID as page, and once for each page whose text it returned."""
