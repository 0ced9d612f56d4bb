"""Immutable sources, the names that were seen in them, and forgetting them."""
