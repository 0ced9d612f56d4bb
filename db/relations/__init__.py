"""The queries of GraphQL fields: selects of related rows, and SQL expressions over a row.

A function has the name of its GraphQL field, where possible. It takes the row that it starts from and returns one
SELECT or expression. The compiler in selection/ adds the condition on the tenant, paging, and the count. Inner selects
must be passed to `in_tenant`, and every table must be aliased.
"""

from . import (
    context_pack,
    graph,
    hierarchy,
    jobs,
    links,
    mentions,
    page_fields,
    pages,
    passages,
    revisions,
    search,
    search_all,
    sections,
    sources,
    suggestions,
)
from .access import api_keys, audit, owners, programs, share_links, webhooks
from .review import claims, contradictions, decisions, grounding, proposals

__all__ = [
    "api_keys", "audit", "claims", "context_pack", "contradictions", "decisions", "graph", "grounding", "hierarchy",
    "jobs", "links", "mentions", "owners", "page_fields", "pages", "passages", "programs", "proposals", "revisions",
    "search", "search_all", "sections", "share_links", "sources", "suggestions", "webhooks",
]  # fmt: skip
