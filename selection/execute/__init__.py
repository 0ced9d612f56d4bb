"""Executes operations: parsing, validation, the plan cache, and responses. Start at engine.py."""
