"""The compiler: GraphQL selections to one SQL statement."""
