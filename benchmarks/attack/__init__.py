"""What clients that mean harm can do to others of the same service."""
