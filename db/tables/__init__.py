"""The tables, one file per family. `metadata` is what Alembic aims at."""

from .columns import metadata
from .jobs import activity, compile_cursors, compile_jobs, forgettings, model_usage, sweeps
from .links import link_targets, links, redirects
from .pages import (
    PAGE_TYPES,
    aliases,
    contradictions,
    merged_pages,
    old_slugs,
    originals,
    page_positions,
    pages,
    placements,
    renamings,
    revisions,
    section_sources,
    sections,
    superseded_claims,
)
from .requests import idempotency_keys, throttles, tool_calls
from .search import (
    embedding_cursors,
    page_embeddings,
    page_names,
    passage_embeddings,
    search_changes,
    search_counts,
    search_pages,
    search_passages,
    search_scopes,
    search_terms,
    search_vocabulary,
)
from .sources import SOURCE_KINDS, mentions, sightings, sources
from .tenants import api_keys, grants, owners, tenants

__all__ = [
    "PAGE_TYPES", "SOURCE_KINDS", "activity", "aliases", "api_keys", "compile_cursors", "compile_jobs",
    "contradictions", "embedding_cursors", "forgettings", "grants", "idempotency_keys", "link_targets", "links",
    "mentions", "merged_pages", "metadata", "model_usage", "old_slugs", "originals", "owners", "page_embeddings",
    "page_names", "page_positions", "pages", "passage_embeddings", "placements", "redirects", "renamings", "revisions",
    "search_changes", "search_counts", "search_pages", "search_passages", "search_scopes", "search_terms",
    "search_vocabulary", "section_sources", "sections", "sightings", "sources", "superseded_claims", "sweeps",
    "tenants", "throttles", "tool_calls",
]  # fmt: skip
