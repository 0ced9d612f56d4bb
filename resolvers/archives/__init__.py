"""Backups of a database, and tenants that move to another one."""
