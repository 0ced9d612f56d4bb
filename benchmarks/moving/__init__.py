"""What it costs to bring notes in and to write a wiki out."""
