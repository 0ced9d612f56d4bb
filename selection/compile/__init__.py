"""The compiler of GraphQL selections to SQL statements."""
