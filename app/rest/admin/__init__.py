"""The API for operators at /api/admin: tenants, owners, API keys, tokens and webhooks."""
