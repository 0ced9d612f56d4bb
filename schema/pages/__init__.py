"""Pages, and what belongs to one: sections, links, mentions, revisions, claims, the graph."""
