"""Tenants: the customers of a server."""
