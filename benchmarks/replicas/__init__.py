"""Measures the cost of a read for a service whose reads go to a replica, compared with one without replicas."""
