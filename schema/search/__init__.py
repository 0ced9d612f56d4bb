"""Search in pages and in sources, and suggestions while typing."""
