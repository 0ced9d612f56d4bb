"""Limits of documents, variables and cost."""
