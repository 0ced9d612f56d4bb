"""Full-text search over one wiki: its index, the interpretation of a query, and ranking."""
