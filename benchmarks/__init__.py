"""What Cairn costs and what it finds: `python -m benchmarks.graphql`, `.search`, `.compiler`."""
