"""Execution: parsed operations, cached plans and answers."""
