"""A language model as planner and section writer (docs/how-to/language-model.md). It proposes, and code decides."""
