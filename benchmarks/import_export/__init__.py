"""Measures the cost of importing notes and of exporting a wiki."""
