"""An ordinary Strawberry server over Cairn's tables, with resolvers and dataloaders: one statement per batch."""
