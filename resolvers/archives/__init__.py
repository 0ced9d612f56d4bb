"""Backups of a database, moves of tenants to another database, erasure, and retention."""
