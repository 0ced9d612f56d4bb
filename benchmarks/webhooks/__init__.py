"""Webhooks under kills: what was written arrives, in order, whatever is killed meanwhile."""
