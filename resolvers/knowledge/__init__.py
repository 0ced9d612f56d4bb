"""A wiki as a knowledge base for agents: knowledge entries, overviews, lint, and counts of tool calls."""
