"""Benchmarks of Cairn's cost and of its search: `python -m benchmarks.graphql`, `.search`, `.compiler`."""
