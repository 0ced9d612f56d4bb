"""Measures the upkeep of a wiki: its lint, ingests by processes that are killed, and syncs of a large vault."""
