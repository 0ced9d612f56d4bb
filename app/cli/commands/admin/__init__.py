"""Commands of operators: tenants, owners, access, and the state of the installation."""
