"""Commands of operators: tenants, owners, what they may do, and how the installation is."""
