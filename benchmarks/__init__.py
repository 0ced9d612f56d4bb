"""What Cairn costs and what it finds: `python -m benchmarks.graphql`, `python -m benchmarks.search`."""
