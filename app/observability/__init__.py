"""Logs, metrics, traces and slow operations, for operators of the service."""
