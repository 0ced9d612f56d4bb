"""The wiki over REST, for clients such as curl. Paths read with stored GraphQL queries, and write with resolvers."""
