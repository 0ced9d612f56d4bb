"""What a query costs, against one SQL statement written by hand."""
