"""Measures what a malicious client can do to other clients of the same service."""
