"""Links between pages: in texts, asserted by callers, derived from evidence, and broken ones."""
