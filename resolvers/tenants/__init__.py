"""Tenants, their owners and the grants between owners."""
