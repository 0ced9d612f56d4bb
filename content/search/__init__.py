"""Text as search reads it: words, queries, passages, snippets and times."""
