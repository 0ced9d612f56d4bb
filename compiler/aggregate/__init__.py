"""Topics that list the pages which belong to them, and sections that grow into topics of their own, without a model."""
