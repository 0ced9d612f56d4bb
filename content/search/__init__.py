"""Analyse texts for search: words, queries, passages, snippets and times."""
