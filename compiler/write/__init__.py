"""Sections that are written, and pages that are stored."""
