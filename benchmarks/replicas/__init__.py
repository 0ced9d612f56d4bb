"""What a read costs a service whose reads go to a replica, beside one without replicas."""
