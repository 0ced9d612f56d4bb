"""The compiler turns sources into pages: it reads, plans, writes sections, links, aggregates and promotes."""

PLANNER = "compiler.extraction:ExtractivePlanner"
WRITER = "compiler.extraction:ExtractiveWriter"
"""The default planner and section writer, as `module:class`."""
