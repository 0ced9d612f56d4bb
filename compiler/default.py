"""Who plans and writes when nobody else is named: the one place that knows."""

PLANNER = "compiler.extraction:ExtractivePlanner"
WRITER = "compiler.extraction:ExtractiveWriter"
