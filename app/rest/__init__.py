"""The wiki over REST, for clients of JSON and curl: GraphQL reads and the one set of writes behind paths."""
