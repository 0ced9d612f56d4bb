"""Documents that requests name instead of sending them: trusted ones of a folder, and those that clients register."""
