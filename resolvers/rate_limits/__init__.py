"""Rate limits of credentials and tenants, shared by all processes."""
