"""Archives: backups of a database or of one tenant, as a folder of compressed tables with checksums."""
