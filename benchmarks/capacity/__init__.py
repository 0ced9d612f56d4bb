"""The cost of a page, a request and a tenant, from which a capacity follows."""
