"""Webhooks: deliveries of changes to services of a tenant."""
