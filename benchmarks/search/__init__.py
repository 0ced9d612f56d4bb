"""What search finds, and what finding costs: on judged collections, and inside a large database."""
