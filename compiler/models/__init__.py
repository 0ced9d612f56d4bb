"""A language model as planner and section writer (docs/models.md). It proposes; what can stand is decided by code."""
