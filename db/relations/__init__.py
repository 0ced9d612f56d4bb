"""How rows relate, as selects: each written once and named by the GraphQL field that shows it.

A function takes the row it starts from and returns one SELECT; selection/ adds the tenant, the page and the count.
Inner selects go through `in_tenant`, and every table is aliased.
"""

from . import (
    changes,
    graph,
    history,
    jobs,
    links,
    lint,
    mentions,
    nodes,
    owners,
    pages,
    positions,
    search,
    sections,
    sources,
    suggestions,
    tags,
)

__all__ = [
    "changes", "graph", "history", "jobs", "links", "lint", "mentions", "nodes", "owners", "pages", "positions",
    "search", "sections", "sources", "suggestions", "tags",
]  # fmt: skip
