"""An ordinary Strawberry server over Cairn's tables: resolvers, dataloaders, one statement a batch."""
