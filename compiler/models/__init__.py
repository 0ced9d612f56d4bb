"""A language model as planner and section writer (docs/how-to/language-model.md). Code checks everything it returns."""
