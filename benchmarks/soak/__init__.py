"""A steady mixed load for as long as is wanted, and whether memory, connections, tables and latencies stay flat."""
