"""Sync: keep a folder of notes and a wiki equal; both may be edited."""
