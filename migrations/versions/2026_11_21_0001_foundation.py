"""Foundation: tenants, owners, pages and all that belongs to them.

The tenant is first in every key; every reference inside a scope carries tenant and owner, so that a row across scopes
cannot be stored. No triggers, no functions, no enum types. Nothing comes from db.tables: a revision stays what it was.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

from migrations.columns import (
    SCOPE,
    create_scoped,
    in_scope_key,
    integer,
    jsonb,
    moment,
    newest,
    of_owner,
    of_tenant,
    one_of,
    refers,
    text,
    texts,
    uuid,
)
from migrations.distribute import copy_everywhere, distribute

revision = "0001"
down_revision = None

EXTENSIONS = ("pg_trgm", "btree_gin", "unaccent")
WITH_STATISTICS = ("pages", "sections", "aliases", "links", "page_search", "page_names", "sources", "mentions")
PAGE_TYPES = (
    "entity", "topic", "decision", "concept", "project", "reference", "theme", "context", "standard", "product",
    "source",
)  # fmt: skip
AUTHORS = ("agent", "user", "compiler", "service")
STATUS = ("active", "archived")


def upgrade() -> None:
    for extension in EXTENSIONS:
        op.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
    create_tenants_and_owners()
    create_pages()
    create_sections()
    create_names_and_revisions()
    create_sources()
    create_mentions()
    create_links()
    create_search()
    create_jobs_and_activity()
    for table in WITH_STATISTICS:
        op.execute(f"CREATE STATISTICS {table}_scope_st (dependencies, ndistinct) ON tenant_id, owner_id FROM {table}")


def downgrade() -> None:
    raise NotImplementedError("migrations go forward only: restore a backup, or write a revision that mends this one")


def create_tenants_and_owners() -> None:
    op.create_table(
        "tenants",
        uuid("tenant_id"), text("slug"), text("name"), jsonb("settings"), moment("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", name="tenants_pk"),
        sa.UniqueConstraint("slug", name="tenants_slug_uq"),
    )  # fmt: skip
    copy_everywhere("tenants")
    hashed = "SHA-256 of 256 random bits; the key itself is never stored"
    owners = "the owners it speaks for; the first is its own scope"
    op.create_table(
        "api_keys",
        sa.Column("key_hash", sa.LargeBinary, nullable=False, comment=hashed),
        uuid("tenant_id"), uuid("id"), text("name"),
        *one_of("api_keys", "role", "reader", "member", "service", "admin"),
        sa.Column("owner_ids", pg.ARRAY(sa.Uuid), nullable=False, comment=owners),
        moment("created_at"), moment("expires_at", null=True), moment("revoked_at", null=True),
        sa.PrimaryKeyConstraint("key_hash", name="api_keys_pk"),
        sa.UniqueConstraint("tenant_id", "id", name="api_keys_id_uq"),
        sa.CheckConstraint("isfinite(expires_at)", name="api_keys_expires_ck"),
        of_tenant("api_keys"),
    )  # fmt: skip
    copy_everywhere("api_keys")
    op.create_table(
        "owners",
        uuid("tenant_id"), uuid("id"), *one_of("owners", "kind", "agent", "user", "shared"),
        text("slug"), text("name"), moment("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="owners_pk"),
        sa.UniqueConstraint("tenant_id", "slug", name="owners_slug_uq"),
        of_tenant("owners"),
    )  # fmt: skip
    distribute("owners", beside=None)
    op.create_table(
        "grants",
        uuid("tenant_id"), uuid("owner_id"), uuid("grantee_id"),
        *one_of("grants", "role", "reader", "member", "admin"),
        moment("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "grantee_id", "owner_id", name="grants_pk"),
        of_owner("grants", "owner_id"),
        of_owner("grants", "grantee_id"),
    )  # fmt: skip
    distribute("grants")


def create_pages() -> None:
    create_scoped(
        "pages",
        *one_of("pages", "type", *PAGE_TYPES), text("slug"), text("title"), text("summary", null=True), text("body_md"),
        *one_of("pages", "status", *STATUS, default="active"),
        texts("tags"), uuid("parent_page_id", null=True), integer("hubness_score", "0"), integer("version", "1"),
        jsonb("metadata"), moment("last_compiled_at", null=True), moment("created_at"), moment("updated_at"),
        in_scope_key("pages"),
        sa.UniqueConstraint("tenant_id", "owner_id", "type", "slug", name="pages_slug_uq"),
        refers("pages", "parent_page_id", "pages", cascade=False),
        sa.CheckConstraint("parent_page_id IS DISTINCT FROM id", name="pages_parent_ck"),
    )  # fmt: skip
    set_only = sa.text("parent_page_id IS NOT NULL")
    op.create_index("pages_parent_ix", "pages", ["tenant_id", "parent_page_id"], postgresql_where=set_only)
    op.create_index("pages_slug_ix", "pages", [*SCOPE, "slug"])
    op.create_index("pages_hubness_ix", "pages", [*SCOPE, "status", *newest("hubness_score")])
    op.create_index("pages_updated_ix", "pages", [*SCOPE, "status", *newest("updated_at")])
    op.create_index("pages_title_ix", "pages", [*SCOPE, "status", "title", "id"])
    op.create_index("pages_tags_ix", "pages", [*SCOPE, "tags"], postgresql_using="gin")


def create_sections() -> None:
    create_scoped(
        "sections",
        uuid("page_id"), text("section_slug"), text("heading"), text("body_md"), integer("position"),
        moment("last_source_at", null=True), jsonb("aggregation", None), uuid("promoted_page_id", null=True),
        moment("created_at"), moment("updated_at"),
        in_scope_key("sections"),
        sa.UniqueConstraint("tenant_id", "page_id", "section_slug", name="sections_slug_uq"),
        sa.UniqueConstraint("tenant_id", "owner_id", "page_id", "id", name="sections_page_uq"),
        refers("sections", "page_id", "pages"),
        refers("sections", "promoted_page_id", "pages", cascade=False),
    )  # fmt: skip
    promoted = sa.text("promoted_page_id IS NOT NULL")
    op.create_index("sections_position_ix", "sections", ["tenant_id", "page_id", "position", "id"])
    op.create_index("sections_promoted_ix", "sections", ["tenant_id", "promoted_page_id"], postgresql_where=promoted)


def create_names_and_revisions() -> None:
    create_scoped(
        "aliases",
        uuid("page_id"), text("alias"), text("name"),
        *one_of("aliases", "source", "compiler", "manual", "import"), moment("created_at"),
        sa.UniqueConstraint("tenant_id", "page_id", "alias", name="aliases_alias_uq"),
        refers("aliases", "page_id", "pages"),
    )  # fmt: skip
    op.create_index("aliases_name_ix", "aliases", [*SCOPE, "alias"])
    create_scoped(
        "old_slugs",
        *one_of("old_slugs", "type", *PAGE_TYPES), text("slug"), uuid("page_id"), moment("created_at"),
        refers("old_slugs", "page_id", "pages"),
        key=("owner_id", "type", "slug"),
    )  # fmt: skip
    op.create_index("old_slugs_page_ix", "old_slugs", ["tenant_id", "page_id"])
    create_scoped(
        "revisions",
        uuid("page_id"), integer("version"), text("title"), text("summary", null=True), text("body_md"), texts("tags"),
        text("edit_summary", null=True), *one_of("revisions", "author_kind", *AUTHORS), text("author_id"),
        moment("created_at"),
        sa.UniqueConstraint("tenant_id", "page_id", "version", name="revisions_version_uq"),
        refers("revisions", "page_id", "pages"),
    )  # fmt: skip


def create_sources() -> None:
    kinds = ("memory_unit", "daily_note", "document", "artifact", "journal_idea", "url")
    create_scoped(
        "sources",
        *one_of("sources", "kind", *kinds), text("ref"), integer("version", "1"), uuid("supersedes_id", null=True),
        text("title", null=True), text("content"),
        sa.Column("checksum", sa.LargeBinary, nullable=False, comment="SHA-256 of the content"),
        jsonb("metadata"), moment("captured_at"), moment("created_at"),
        in_scope_key("sources"),
        sa.UniqueConstraint("tenant_id", "owner_id", "kind", "ref", "version", name="sources_ref_uq"),
        refers("sources", "supersedes_id", "sources", cascade=False),
        sa.CheckConstraint("isfinite(captured_at)", name="sources_captured_ck"),
    )  # fmt: skip
    op.create_index("sources_captured_ix", "sources", [*SCOPE, *newest("captured_at")])
    op.create_index("sources_supersedes_ix", "sources", ["tenant_id", "supersedes_id"])
    create_scoped(
        "section_sources",
        uuid("page_id"), uuid("section_id"), uuid("source_id"),
        integer("line_start", null=True), integer("line_end", null=True), text("summary", null=True),
        moment("created_at"),
        sa.UniqueConstraint("tenant_id", "section_id", "source_id", name="section_sources_cited_uq"),
        refers("section_sources", "source_id", "sources"),
        sa.ForeignKeyConstraint(
            [*SCOPE, "page_id", "section_id"],
            ["sections.tenant_id", "sections.owner_id", "sections.page_id", "sections.id"],
            name="section_sources_section_fk", ondelete="CASCADE",
        ),
        sa.CheckConstraint("line_start >= 1 AND line_end >= line_start", name="section_sources_lines_ck"),
    )  # fmt: skip
    op.create_index("section_sources_page_ix", "section_sources", ["tenant_id", "page_id", "source_id"])
    op.create_index("section_sources_source_ix", "section_sources", ["tenant_id", "source_id", "section_id"])


def create_mentions() -> None:
    create_scoped(
        "mentions",
        text("name"), text("alias"),
        *one_of("mentions", "status", "open", "promoted", "ignored", default="open"), integer("mention_count", "0"),
        *one_of("mentions", "suggested_type", *PAGE_TYPES, null=True),
        jsonb("contexts", "[]"), jsonb("cluster", None), uuid("promoted_page_id", null=True),
        moment("first_seen_at"), moment("last_seen_at"),
        in_scope_key("mentions"),
        sa.UniqueConstraint("tenant_id", "owner_id", "alias", "status", name="mentions_alias_uq"),
        refers("mentions", "promoted_page_id", "pages", cascade=False),
    )  # fmt: skip
    op.create_index("mentions_seen_ix", "mentions", [*SCOPE, *newest("last_seen_at")])
    op.create_index("mentions_page_ix", "mentions", ["tenant_id", "promoted_page_id"])
    create_scoped(
        "sightings",
        uuid("mention_id"), uuid("source_id"), moment("seen_at"),
        refers("sightings", "mention_id", "mentions"),
        refers("sightings", "source_id", "sources"),
        key=("mention_id", "source_id"),
    )  # fmt: skip
    op.create_index("sightings_source_ix", "sightings", ["tenant_id", "source_id"])


def create_links() -> None:
    create_scoped(
        "links",
        uuid("from_page_id"), uuid("to_page_id"), *one_of("links", "kind", "reference", "parent_of", "child_of"),
        texts("reasons"), moment("created_at"),
        sa.UniqueConstraint("tenant_id", "from_page_id", "to_page_id", "kind", name="links_pair_uq"),
        refers("links", "from_page_id", "pages"),
        refers("links", "to_page_id", "pages"),
        sa.CheckConstraint("from_page_id <> to_page_id", name="links_self_ck"),
    )  # fmt: skip
    op.create_index("links_to_ix", "links", ["tenant_id", "to_page_id", "kind", "from_page_id"])
    op.create_index("links_owner_ix", "links", [*SCOPE, "from_page_id", "to_page_id", "kind"])
    create_scoped(
        "link_targets",
        uuid("from_page_id"), text("target"), text("space", null=True),
        *one_of("link_targets", "type", *PAGE_TYPES, null=True), text("slug"), text("alias"),
        uuid("to_page_id", null=True),
        refers("link_targets", "from_page_id", "pages"),
        refers("link_targets", "to_page_id", "pages", cascade=False),
        key=("from_page_id", "target"),
    )  # fmt: skip
    op.create_index("link_targets_to_ix", "link_targets", ["tenant_id", "to_page_id"])
    op.create_index("link_targets_slug_ix", "link_targets", [*SCOPE, "slug"])
    op.create_index("link_targets_alias_ix", "link_targets", [*SCOPE, "alias"])


def create_search() -> None:
    create_scoped(
        "page_search",
        uuid("page_id"), *one_of("page_search", "status", *STATUS),
        sa.Column("tsv", pg.TSVECTOR, nullable=False), moment("last_compiled_at", null=True),
        refers("page_search", "page_id", "pages"),
        key=("page_id",),
    )  # fmt: skip
    op.create_index("page_search_tsv_ix", "page_search", [*SCOPE, "tsv"], postgresql_using="gin")
    create_scoped(
        "page_names",
        uuid("page_id"), *one_of("page_names", "kind", "title", "alias", "slug", "old_slug"),
        sa.Column("name", sa.Text(collation="C"), nullable=False), *one_of("page_names", "status", *STATUS),
        refers("page_names", "page_id", "pages"),
        key=("page_id", "kind", "name"),
    )  # fmt: skip
    op.create_index("page_names_name_ix", "page_names", [*SCOPE, "name", "page_id"])
    trigrams = {"name": "gin_trgm_ops"}
    op.create_index(
        "page_names_trgm_ix", "page_names", [*SCOPE, "name"], postgresql_using="gin", postgresql_ops=trigrams
    )


def create_jobs_and_activity() -> None:
    states = ("pending", "running", "succeeded", "failed", "cancelled")
    create_scoped(
        "compile_jobs",
        text("dedupe_key"), text("trigger"), *one_of("compile_jobs", "status", *states, default="pending"),
        integer("attempt", "0"), moment("run_after"), text("claimed_by", null=True), moment("heartbeat_at", null=True),
        moment("started_at", null=True), moment("finished_at", null=True), text("error", null=True), jsonb("metrics"),
        moment("created_at"),
    )  # fmt: skip
    unfinished = sa.text("status IN ('pending', 'running')")
    op.create_index(
        "compile_jobs_open_uq", "compile_jobs", ["tenant_id", "dedupe_key"], unique=True, postgresql_where=unfinished
    )
    op.create_index("compile_jobs_created_ix", "compile_jobs", [*SCOPE, *newest("created_at")])
    create_scoped(
        "compile_cursors",
        moment("source_at", null=True), uuid("source_id", null=True), moment("updated_at"),
        key=("owner_id",),
    )  # fmt: skip
    create_scoped(
        "activity",
        moment("at"), *one_of("activity", "actor_kind", *AUTHORS), text("actor_id"), text("action"),
        uuid("page_id", null=True), jsonb("detail"),
    )  # fmt: skip
    op.create_index("activity_at_ix", "activity", [*SCOPE, *newest("at")])
    op.create_index("activity_page_ix", "activity", ["tenant_id", "page_id", sa.text("id DESC")])
