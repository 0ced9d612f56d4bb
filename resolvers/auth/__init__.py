"""Authentication: tokens, API keys, OAuth authorizations, and the scope that a credential gives to a request."""
