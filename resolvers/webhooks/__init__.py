"""Webhooks: changes that are sent to the services of a tenant."""
