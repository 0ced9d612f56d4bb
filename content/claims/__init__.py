"""Claims that a page used to make, and the rules that recognise a correction."""
