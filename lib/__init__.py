"""General helpers, independent of the product."""
