"""Links between pages: written in texts, asserted by callers, derived from evidence, and broken links."""
