"""Relations between rows, as selects: each written once and named by the GraphQL field that shows it.

A function takes the row it starts from and returns one SELECT; selection/ adds the tenant, the page and the count.
Inner selects go through `in_tenant`, and every table is aliased.
"""

from . import (
    api_keys,
    audit,
    claims,
    context_pack,
    contradictions,
    decisions,
    graph,
    grounding,
    hierarchy,
    jobs,
    links,
    mentions,
    owners,
    page_fields,
    pages,
    passages,
    programs,
    proposals,
    revisions,
    search,
    search_all,
    sections,
    share_links,
    sources,
    suggestions,
    webhooks,
)

__all__ = [
    "api_keys", "audit", "claims", "context_pack", "contradictions", "decisions", "graph", "grounding", "hierarchy",
    "jobs", "links", "mentions", "owners", "page_fields", "pages", "passages", "programs", "proposals", "revisions",
    "search", "search_all", "sections", "share_links", "sources", "suggestions", "webhooks",
]  # fmt: skip
