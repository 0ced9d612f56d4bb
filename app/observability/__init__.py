"""Logs, metrics, traces and slow operations, for those who operate the service."""
