"""Postgres and nothing else: tables, relations, named statements, the pool."""
