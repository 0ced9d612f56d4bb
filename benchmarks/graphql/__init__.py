"""What an operation costs Cairn, beside its own SQL without Cairn, PostGraphile, and Strawberry with dataloaders."""
