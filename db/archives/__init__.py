"""Copies of a database, or of one tenant in it, as a folder of compressed tables with checksums."""
