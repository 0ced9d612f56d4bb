"""The default planner and section writer: rules over names and counts, without a model
(docs/explanation/planner.md)."""

from .planner import ExtractivePlanner
from .writer import ExtractiveWriter

__all__ = ["ExtractivePlanner", "ExtractiveWriter"]
