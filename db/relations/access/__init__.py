"""Owners and credentials: API keys, authorized programs, share links, webhooks, and the audit log."""
