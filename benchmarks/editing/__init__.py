"""Measures the cost of edits and of their history, and checks that an edit changes nothing else."""
