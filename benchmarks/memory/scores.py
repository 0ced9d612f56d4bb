"""Scores ranked sessions and turns, with confidence intervals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

Z = 1.959964  # the quantile of the normal distribution for 95 %


@dataclass(frozen=True, slots=True)
class Ranked:
    """The result of one question: sessions and turns, each once, the best first."""

    sessions: Sequence[str]
    turns: Sequence[str]


@dataclass(frozen=True, slots=True)
class Score:
    """The scores of one question: shares of the evidence that was found, and `mrr`, 1 / rank of the first session."""

    turns10: float
    sessions5: float
    sessions10: float
    hit1: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over `count` questions, and Wilson's 95 % interval of a share with that count."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}–{self.high:.3f}]"


Means = Mapping[str, Interval]
"""Intervals by measure."""
MEASURES = {
    "turns10": "turns R@10", "sessions5": "sessions R@5", "sessions10": "sessions R@10", "hit1": "Hit@1", "mrr": "MRR",
}  # fmt: skip


def score(ranked: Ranked, sessions: Iterable[str], turns: Iterable[str]) -> Score:
    """Score a ranking. The recall counts all judged evidence, even if there is more of it than ranks."""
    wanted, wanted_turns = set(sessions), set(turns)
    first = next((place for place, session in enumerate(ranked.sessions, 1) if session in wanted), None)
    return Score(
        turns10=recall(ranked.turns[:10], wanted_turns),
        sessions5=recall(ranked.sessions[:5], wanted),
        sessions10=recall(ranked.sessions[:10], wanted),
        hit1=float(first == 1),
        mrr=1 / first if first else 0.0,
    )


def recall(found: Iterable[str], wanted: set[str]) -> float:
    return len(wanted & set(found)) / len(wanted)


def means(scores: Sequence[Score]) -> dict[str, Interval]:
    return {name: interval([getattr(query_score, name) for query_score in scores]) for name in MEASURES}


def interval(values: Sequence[float]) -> Interval:
    """Return the mean with Wilson's interval, which stays within 0 and 1 and is valid for shares close to them."""
    count = len(values)
    if not count:
        return Interval(0.0, 0.0, 1.0, 0)
    share, square = fmean(values), Z * Z
    middle = (share + square / (2 * count)) / (1 + square / count)
    reach = Z / (1 + square / count) * sqrt(share * (1 - share) / count + square / (4 * count * count))
    return Interval(share, max(0.0, middle - reach), min(1.0, middle + reach), count)


def by_kind(scored: Iterable[tuple[str, Score]]) -> dict[str, Means]:
    """Return the means of all questions, and of each kind."""
    kinds: dict[str, list[Score]] = {"all": []}
    for kind, query_score in scored:
        kinds["all"].append(query_score)
        kinds.setdefault(kind, []).append(query_score)
    return {kind: means(each) for kind, each in kinds.items()}


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure to be reached: with each conversation in its own wiki, or with all in one."""

    what: str
    setting: str
    measure: str
    minimum: float


APART, TOGETHER = "apart", "together"
GOALS = (
    Goal("turns R@10, without vectors", APART, "turns10", 0.75),
    Goal("sessions R@10", APART, "sessions10", 0.955),
    Goal("sessions Hit@1", APART, "hit1", 0.76),
    Goal("sessions R@5, one wiki", TOGETHER, "sessions5", 0.90),
    Goal("sessions MRR, one wiki", TOGETHER, "mrr", 0.83),
)
