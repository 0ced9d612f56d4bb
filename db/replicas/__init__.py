"""Read replicas: standby servers that answer reads, unless they lack something that the client has already seen."""
