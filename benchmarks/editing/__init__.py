"""What edits and the history they leave cost, and that they change what they name alone."""
