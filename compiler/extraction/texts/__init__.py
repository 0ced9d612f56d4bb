"""Texts of sources: their language, their marks and metadata, and their sentences."""
