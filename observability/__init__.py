"""Traces of requests, the input of metrics, logs and exporters."""
