"""Pages that are made again from what they cite."""
