"""The planner and the section writer that need no model: rules over names and counts (docs/explanation/planner.md)."""

from .planner import ExtractivePlanner
from .writer import ExtractiveWriter

__all__ = ["ExtractivePlanner", "ExtractiveWriter"]
