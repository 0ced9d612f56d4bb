"""Links that a compile makes."""
