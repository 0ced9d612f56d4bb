"""Measures what keeps a wiki in order: its lint, and ingests that are killed."""
