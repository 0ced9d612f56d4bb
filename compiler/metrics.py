"""Metrics of a job: numbers that add up over its batches and attempts."""

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

REPEATING_MAX = 100


class Metrics:
    """Counters by name; `dropped` counts what a plan asked for and did not get, by the reason.

    `stopped` says why a job did not go on, where something is left.
    """

    def __init__(self, stored: Mapping[str, Any] | None = None) -> None:
        given = dict(stored or {})
        self.dropped: dict[str, int] = dict(given.pop("dropped", {}))
        self.usage: dict[str, float] = dict(given.pop("usage", {}))
        self.reached: str = given.pop("reached", "")
        """The last page that was done, for jobs that go through them all."""
        self.stopped: str | None = given.pop("stopped", None)
        self.aggregation_error: str | None = given.pop("aggregation_error", None)
        """The error of the aggregation pass that made the last attempt fail, if it did."""
        self.repeating: list[str] = list(given.pop("repeating_page_ids", ()))
        """Pages that still say, as people wrote it, what was forgotten."""
        self.counts: dict[str, float] = dict.fromkeys(COUNTERS, 0) | given

    def add(self, name: str, number: float = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + number

    def drop(self, reason: str, times: int = 1) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + times

    def repeats(self, page_id: UUID) -> None:
        self.add("pages_that_repeat")
        self.repeating.append(str(page_id))

    def use(self, usage: Mapping[str, float]) -> None:
        """Add what the planner and the writer count: requests, tokens, cost."""
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
        told = {"stopped": self.stopped, "reached": self.reached, "repeating_page_ids": self.repeating}
        known = {name: value for name, value in told.items() if value}
        return {
            **self.counts, **known, "aggregation_error": self.aggregation_error, "dropped": dict(self.dropped),
            "usage": dict(self.usage),
        }  # fmt: skip
