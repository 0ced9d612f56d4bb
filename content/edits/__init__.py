"""Edits of a text, and the differences between two texts."""
