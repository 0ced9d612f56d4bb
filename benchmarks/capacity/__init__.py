"""Measures the cost of a page, a request and a tenant, from which the capacity of a machine follows."""
