"""Read replicas: standbys that answer reads, as far as they have what the client has seen."""
