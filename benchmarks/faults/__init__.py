"""Causes faults on purpose, and measures which acknowledged writes are lost and how long clients notice."""
