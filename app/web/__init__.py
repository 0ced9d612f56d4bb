"""The reader: a wiki as pages that a person reads, edits and searches in a browser."""
