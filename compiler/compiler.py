"""The compiler: who plans and who writes, and within what bounds."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import time as clock

from .authors import Hiring
from .caps import CAPS, Caps
from .metrics import Metrics
from .planner import Planner, SectionWriter


@dataclass(frozen=True, slots=True)
class Compiler:
    """Who plans and writes, and how much. With `hiring` each job has the authors that it asks for."""

    planner: Planner
    writer: SectionWriter
    caps: Caps = CAPS
    links_by_evidence: bool = True
    sweep_at: clock | None = None
    """From when on, in UTC, a worker sweeps the wikis of a day; None for never."""
    told: Callable[[Metrics], None] = lambda metrics: None
    """Hears of each batch that is stored."""
    hiring: Hiring | None = None
