"""Reads of the compiler: source texts, citations, and the wiki as planners see it."""
