"""How rows relate, as selects: each written once and named by the GraphQL field that shows it.

A function takes the row it starts from and returns one SELECT; selection/ adds the tenant, the page and the count.
Inner selects go through `in_tenant`, and every table is aliased.
"""

from . import (
    aliases,
    api_keys,
    changes,
    differences,
    graph,
    hierarchy,
    jobs,
    links,
    lint,
    mentions,
    nodes,
    owners,
    pages,
    positions,
    revisions,
    search,
    sections,
    sources,
    suggestions,
    tags,
)

__all__ = [
    "aliases", "api_keys", "changes", "differences", "graph", "hierarchy", "jobs", "links", "lint", "mentions", "nodes",
    "owners", "pages", "positions", "revisions", "search", "sections", "sources", "suggestions", "tags",
]  # fmt: skip
