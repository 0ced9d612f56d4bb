"""Stored GraphQL documents, which requests name by their id: trusted documents, and texts that clients register."""
