"""Files ingested: read, kept, and made into pages; and fetched, where that is allowed."""
