"""Measures what malicious clients can do to others of the same service."""
