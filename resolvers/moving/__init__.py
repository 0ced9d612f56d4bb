"""Wikis in and out: notes become pages, and pages notes, in folders, zips and lines."""
