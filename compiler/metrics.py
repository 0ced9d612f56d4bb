"""The metrics of a job: numbers that add up over its batches and attempts."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

COUNTERS = (
    "batches", "sources_read", "pages_created", "pages_updated", "pages_resurrected", "sections_written",
    "sections_skipped", "mentions_recorded", "mentions_promoted", "links_written", "links_written_deterministic",
    "links_written_co_mention", "alias_dedup_merged", "fuzzy_dedupe_merges", "duplicate_candidates_count",
    "deterministic_linking_flag_suppressed", "deterministic_parents_derived", "parent_sections_updated",
    "sections_promoted", "aggregation_planner_calls", "aggregation_input_tokens", "aggregation_output_tokens",
)  # fmt: skip

REPEATING_MAX = 100  # pages whose ids are stored


class Metrics:
    """The metrics of a job, a batch, or several of them together."""

    def __init__(self, stored: Mapping[str, Any] | None = None) -> None:
        """Set up with the metrics that a job's row has stored, or with zeros."""
        values = dict(stored or {})
        self.dropped: dict[str, int] = dict(values.pop("dropped", {}))
        """How many proposals of plans were rejected, by reason."""
        self.usage: dict[str, float] = dict(values.pop("usage", {}))
        """Requests, tokens and cost of models."""
        self.reached: str = values.pop("reached", "")
        """The last page that is done, for jobs that go through all pages of a wiki."""
        self.stopped: str | None = values.pop("stopped", None)
        """The reason why the job stopped before it had done everything."""
        self.aggregation_error: str | None = values.pop("aggregation_error", None)
        """The error of the aggregation pass that made the last attempt fail, if it did."""
        self.repeating: list[str] = list(values.pop("repeating_page_ids", ()))
        """The ids of pages on which text that people wrote still repeats the forgotten source."""
        self.counts: dict[str, float] = dict.fromkeys(COUNTERS, 0) | values
        """The counters by name."""

    def add(self, name: str, number: float = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + number

    def drop(self, reason: str, times: int = 1) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + times

    def add_repeating(self, page_id: UUID) -> None:
        """Record a page that still repeats the forgotten source."""
        self.add("pages_that_repeat")
        self.repeating.append(str(page_id))

    def use(self, usage: Mapping[str, float]) -> None:
        """Add usage of planner and writer: requests, tokens and cost."""
        for name, number in usage.items():
            self.usage[name] = round(self.usage.get(name, 0) + number, 6)

    def __add__(self, other: "Metrics") -> "Metrics":
        total = Metrics(self.stored)
        total.reached = other.reached or self.reached
        total.repeating = list(dict.fromkeys([*self.repeating, *other.repeating]))[:REPEATING_MAX]
        for name, number in other.counts.items():
            total.add(name, number)
        for reason, times in other.dropped.items():
            total.drop(reason, times)
        total.use(other.usage)
        return total

    @property
    def stored(self) -> dict[str, Any]:
        """Return the metrics as a job's row stores them."""
        optional = {"stopped": self.stopped, "reached": self.reached, "repeating_page_ids": self.repeating}
        present = {name: value for name, value in optional.items() if value}
        return {
            **self.counts, **present, "aggregation_error": self.aggregation_error, "dropped": dict(self.dropped),
            "usage": dict(self.usage),
        }  # fmt: skip
