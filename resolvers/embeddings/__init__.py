"""Semantic search, which is off unless an embedding server is configured: vectors, their job and their use."""
