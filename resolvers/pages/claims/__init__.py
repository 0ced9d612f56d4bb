"""Claims of pages: superseded claims, contradictions, and recorded decisions."""
