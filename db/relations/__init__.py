"""Relations between rows, as selects: each written once and named by the GraphQL field that shows it.

A function takes the row it starts from and returns one SELECT; selection/ adds the tenant, the page and the count.
Inner selects go through `in_tenant`, and every table is aliased.
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
