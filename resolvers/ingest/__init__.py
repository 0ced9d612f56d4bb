"""Ingest files: fetch them if that is allowed, store them with their text as a source, and write a page from it."""
