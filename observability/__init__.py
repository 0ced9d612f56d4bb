"""Traces of requests, which metrics, logs and exporters are made from."""
