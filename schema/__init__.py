"""The GraphQL contract: types, inputs, root fields, error codes. No SQL."""
