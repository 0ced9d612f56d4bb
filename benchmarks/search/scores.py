"""Scores a list of documents by human judgements."""

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from .collection import Collection, Query

DEPTH = 10
log = logging.getLogger(__name__)
Search = Callable[[str], Sequence[str]]
"""A function that returns the ids of documents for a query, the best first."""


@dataclass(frozen=True, slots=True)
class Score:
    """The scores of one query, or the mean of several. All are shares of 1; the last three should be 0.

    `ndcg10` is the sum of gains discounted by rank, relative to the best order. `recall10` is the share of the relevant
    documents that are among the first ten. `success1`: the first result is relevant. `empty`: nothing was found.
    `repeated`: a document occurs twice. `error`: the search raised an exception.
    """

    ndcg10: float = 0.0
    recall10: float = 0.0
    success1: float = 0.0
    empty: float = 0.0
    repeated: float = 0.0
    error: float = 0.0

    @property
    def answered(self) -> float:
        return 1 - self.empty


def scores(search: Search, collection: Collection, step: Callable[[], object]) -> dict[str, Score]:
    """Return the mean of each kind of query. `step` is called after each query."""
    found: dict[str, list[Score]] = {}
    for query in collection.queries:
        found.setdefault(query.kind, []).append(score_query(search, query, collection.judged.get(query.id, {})))
        step()
    return {kind: mean(each) for kind, each in found.items()}


def score_query(search: Search, query: Query, relevant: Mapping[str, int]) -> Score:
    try:
        return score(search(query.text), relevant)
    except Exception as error:  # every exception counts as an error
        log.warning("%s raised for %r", type(error).__name__, query.text, exc_info=error)
        return Score(error=1.0)


def score(results: Sequence[str], relevant: Mapping[str, int]) -> Score:
    """Score one result. A repeated document gains nothing and takes no rank. No document is relevant to nonsense."""
    once = list(dict.fromkeys(results))
    best = sorted(relevant.values(), reverse=True)
    return Score(
        ndcg10=gained(relevant.get(document, 0) for document in once) / (gained(best) or 1),
        recall10=sum(document in relevant for document in once[:DEPTH]) / (min(len(relevant), DEPTH) or 1),
        success1=float(once[:1] != [] and once[0] in relevant),
        empty=float(not once),
        repeated=float(len(once) < len(results)),
    )


def gained(gains: Iterable[int]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in zip(range(DEPTH), gains, strict=False))


def mean(several: Sequence[Score]) -> Score:
    return Score(*(fmean(getattr(query_score, name) for query_score in several) for name in Score.__slots__))
