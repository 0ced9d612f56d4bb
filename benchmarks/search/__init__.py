"""Measures the quality of search on judged collections, and its cost in a large database."""
