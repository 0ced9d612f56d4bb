"""What the product does: one function per operation, one file per noun. No transport."""
