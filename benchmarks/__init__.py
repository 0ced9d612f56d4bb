"""Benchmarks of Cairn's cost and quality; each package is run as `python -m benchmarks.NAME`."""
