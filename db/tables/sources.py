"""Tables of sources, which are immutable, and of mentions, the names in them that have no page yet."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    UniqueConstraint,
    text,
)

from .columns import document, identifier, in_scope_key, number, one_of, refers, scoped_table, timestamp, words
from .pages import PAGE_TYPES

SOURCE_KINDS = ("memory_unit", "daily_note", "document", "artifact", "journal_idea", "url", "run")

sources = scoped_table(
    "sources",
    *one_of("sources", "kind", *SOURCE_KINDS),
    words("ref"),
    number("version", default=1),
    identifier("supersedes_id", nullable=True),
    words("title", nullable=True),
    words("content"),
    Column("checksum", LargeBinary, nullable=False, comment="SHA-256 of the content"),
    document("metadata"),
    timestamp("captured_at"),
    timestamp("created_at"),
    timestamp("forgotten_at", nullable=True),
    words("forgotten_by", nullable=True),
    words("forgotten_reason", nullable=True),
    in_scope_key("sources"),
    UniqueConstraint("tenant_id", "owner_id", "kind", "ref", "version", name="sources_ref_uq"),
    refers("sources", "supersedes_id", "sources", ondelete=None),
    CheckConstraint("isfinite(captured_at)", name="sources_captured_ck"),
)
Index("sources_captured_ix", sources.c.tenant_id, sources.c.owner_id, sources.c.captured_at.desc(), sources.c.id.desc())
Index("sources_created_ix", sources.c.tenant_id, sources.c.owner_id, sources.c.created_at, sources.c.id)
Index(
    "sources_sensitive_ix", sources.c.tenant_id, sources.c.owner_id,
    postgresql_where=text("lower(metadata ->> 'sensitivity') NOT IN ('', 'public', 'internal')"),
)  # fmt: skip
Index("sources_supersedes_ix", sources.c.tenant_id, sources.c.supersedes_id)

blobs = scoped_table(
    "blobs",
    Column("hash", LargeBinary, nullable=False, comment="SHA-256 of the data"),
    Column("size", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    timestamp("created_at"),
    Column("is_in_folder", Boolean, nullable=False, server_default=text("false")),
    key=("owner_id", "hash"),
)

source_originals = scoped_table(
    "source_originals",
    identifier("source_id"),
    Column("hash", LargeBinary, nullable=False),
    words("media_type"),
    words("address"),
    document("flags", default="[]"),
    refers("source_originals", "source_id", "sources"),
    ForeignKeyConstraint(
        ["tenant_id", "owner_id", "hash"],
        ["blobs.tenant_id", "blobs.owner_id", "blobs.hash"],
        name="source_originals_hash_fk",
    ),
    key=("source_id",),
)
Index("source_originals_hash_ix", source_originals.c.tenant_id, source_originals.c.owner_id, source_originals.c.hash)

# Attachments: files of a wiki by the paths that its texts name. `name` is a key of the path without its folders.
attachments = scoped_table(
    "attachments",
    words("path"),
    words("name"),
    Column("hash", LargeBinary, nullable=False),
    words("media_type"),
    number("width", nullable=True),
    number("height", nullable=True),
    timestamp("created_at"),
    ForeignKeyConstraint(
        ["tenant_id", "owner_id", "hash"],
        ["blobs.tenant_id", "blobs.owner_id", "blobs.hash"],
        name="attachments_hash_fk",
    ),
    key=("owner_id", "path"),
)
Index("attachments_name_ix", attachments.c.tenant_id, attachments.c.owner_id, attachments.c.name)
Index("attachments_hash_ix", attachments.c.tenant_id, attachments.c.owner_id, attachments.c.hash)

mentions = scoped_table(
    "mentions",
    words("name"),
    words("alias"),
    *one_of("mentions", "status", "open", "promoted", "ignored", default="open"),
    number("mention_count", default=0),
    *one_of("mentions", "suggested_type", *PAGE_TYPES, nullable=True),
    document("contexts", default="[]"),
    document("cluster", nullable=True),
    identifier("promoted_page_id", nullable=True),
    timestamp("first_seen_at"),
    timestamp("last_seen_at"),
    in_scope_key("mentions"),
    UniqueConstraint("tenant_id", "owner_id", "alias", "status", name="mentions_alias_uq"),
    refers("mentions", "promoted_page_id", "pages", ondelete=None),
)
Index(
    "mentions_seen_ix", mentions.c.tenant_id, mentions.c.owner_id, mentions.c.last_seen_at.desc(), mentions.c.id.desc()
)
Index("mentions_page_ix", mentions.c.tenant_id, mentions.c.promoted_page_id)

# One row for each source that contains a mention, with the newest of its versions that does. So an edited note counts
# once, and a replay does not count again. A wiki has one writer at a time, so that it can check before it adds a row.
sightings = scoped_table(
    "sightings",
    identifier("mention_id"),
    identifier("source_id"),
    timestamp("seen_at"),
    refers("sightings", "mention_id", "mentions"),
    refers("sightings", "source_id", "sources"),
    key=("mention_id", "source_id"),
)
Index("sightings_source_ix", sightings.c.tenant_id, sightings.c.source_id)
