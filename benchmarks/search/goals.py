"""Defines the goals of search, by collection."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from .scores import Score

Figures = Mapping[str, Mapping[str, Score]]
"""The scores of one search, by collection and kind of query."""

WIKIS = ("obs_en", "hugo", "cppdocs")
SPACELESS = ("obs_zh", "obs_ko", "obs_th")


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal for the mean of a measure (see Score), over the queries of a kind in the named collections.

    No names mean all collections, and no kind means every kind. `at_most` makes the goal a maximum. `above_peers` also
    requires the figure to be better than that of each peer.
    """

    what: str
    goal: float
    kind: str | None
    measure: str
    collections: tuple[str, ...] = ()
    at_most: bool = False
    above_peers: bool = False

    def reached(self, figures: Figures) -> float | None:
        """Return the figure, or None if a named collection or the kind was not measured."""
        if not set(self.collections) <= set(figures):
            return None
        kinds_of_queries = [figures[name] for name in self.collections or figures]
        found = [score for own in kinds_of_queries for kind, score in own.items() if self.kind in (kind, None)]
        return fmean(getattr(score, self.measure) for score in found) if found else None

    def is_met(self, ours: float, peers: list[float]) -> bool:
        """Return whether the goal is met. The figure counts as it is printed, with three digits."""
        if self.at_most:
            return round(ours, 3) <= self.goal
        return round(ours, 3) >= self.goal and not (self.above_peers and ours <= max(peers, default=0))


GOALS = (
    *(
        Goal(f"questions, {name}: nDCG@10", goal, "topic", "ndcg10", (name,), above_peers=True)
        for name, goal in (("cran", 0.43), ("cacm", 0.52), ("cisi", 0.43))
    ),
    Goal("title: first", 0.995, "title", "success1", WIKIS),
    Goal("alias: first", 0.995, "alias", "success1", WIKIS),
    Goal("redirect, name withheld: nDCG@10", 0.82, "redirect", "ndcg10", WIKIS),
    Goal("alias, name withheld: nDCG@10", 0.86, "alias_heldout", "ndcg10", ("obs_en", "cppdocs")),
    Goal("text of a link: nDCG@10", 0.88, "anchor", "ndcg10", ("obs_en", "cppdocs")),
    Goal("heading: nDCG@10", 0.98, "heading", "ndcg10", WIKIS),
    Goal("prefix: nDCG@10", 0.96, "prefix", "ndcg10", WIKIS),
    Goal("words and a prefix: nDCG@10", 0.98, "prefix_multi", "ndcg10", WIKIS),
    Goal("one typo: recall@10", 0.99, "typo1", "recall10", WIKIS),
    Goal("first letter wrong: recall@10", 0.99, "typo_first", "recall10", WIKIS),
    Goal("two typos: recall@10", 0.98, "typo2", "recall10", WIKIS),
    Goal("one typo, all wikis: recall@10", 0.99, "typo1", "recall10"),
    Goal("first letter wrong, all wikis: recall@10", 0.99, "typo_first", "recall10"),
    Goal("two typos, all wikis: recall@10", 0.98, "typo2", "recall10"),
    Goal("nonsense answered", 0.01, "nonsense", "answered", WIKIS, at_most=True),
    Goal("title, no spaces: nDCG@10", 0.99, "title", "ndcg10", SPACELESS),
    Goal("heading, no spaces: nDCG@10", 0.92, "heading", "ndcg10", SPACELESS),
    Goal("without accents: first", 0.99, "accent", "success1"),
    Goal("questions without an answer", 0.0, "topic", "empty", at_most=True),
    Goal("a page twice", 0.0, None, "repeated", at_most=True),
    Goal("errors", 0.0, None, "error", at_most=True),
)
