"""Compares the cost of operations in Cairn, a hand-written baseline, PostGraphile, and Strawberry with dataloaders."""
