"""Sources in, pages out: read, plan, write sections, link, aggregate, promote."""

PLANNER = "compiler.extraction:ExtractivePlanner"
WRITER = "compiler.extraction:ExtractiveWriter"
"""The planner and the writer where no other is named."""
