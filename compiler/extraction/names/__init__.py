"""Names in sources: by capitals, scripts, marks and counts, and those that mean the same."""
