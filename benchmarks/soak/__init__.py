"""Applies a steady mixed load, and checks whether memory, connections, tables and latencies stay flat."""
