"""Sync: a folder of notes and a wiki that are kept equal, whichever of the two is edited."""
