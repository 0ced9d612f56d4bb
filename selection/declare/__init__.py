"""Declarations: how fields, arguments and values of the GraphQL schema map to SQL."""
