"""Pages and everything that belongs to them: sections, links, mentions, revisions, claims and the graph."""
