"""Writes to pages: create, update, rename, merge, transfer, archive and restore."""
