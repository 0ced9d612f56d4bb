"""Writes to pages: create, update, rename, merge, archive and restore."""
