"""OAuth 2.1: the service as a protected resource, and as a small authorization server for who has no other."""
