"""Credentials: tokens, API keys and the scope of a request that follows from them."""
