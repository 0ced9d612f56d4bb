"""OAuth 2.1: the service as a protected resource, and as an optional small authorization server."""
