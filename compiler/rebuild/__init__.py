"""Rebuilding pages: writing their sections again from the sources that they cite."""
