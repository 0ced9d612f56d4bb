"""Series of many processes as Prometheus reads them."""

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from .names import SECONDS, Family
from .numbers import Labels, Series

KINDS: dict[str, type[CounterMetricFamily | GaugeMetricFamily]] = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
}
BOUNDS = [*map(str, SECONDS), "+Inf"]

Sums = dict[Family, dict[Labels, list[float]]]


def exposition(series: Iterable[Series]) -> bytes:
    """The text format, version 0.0.4."""
    registry = CollectorRegistry()
    registry.register(Summed(added_up(series)))
    return generate_latest(registry)


def added_up(series: Iterable[Series]) -> Sums:
    sums: Sums = {}
    for family, labels, values in series:
        known = sums.setdefault(family, {})
        before = known.get(labels)
        known[labels] = [a + b for a, b in zip(before, values, strict=True)] if before else values
    return sums


class Summed(Collector):
    """What prometheus_client asks for the numbers."""

    def __init__(self, sums: Sums) -> None:
        self.sums = sums

    def collect(self) -> Iterator[Metric]:
        for family, known in sorted(self.sums.items()):
            yield histogram(family, known) if family.kind == "histogram" else single(family, known)


def single(family: Family, known: dict[Labels, list[float]]) -> Metric:
    metric = KINDS[family.kind](family.name, family.help, labels=family.labels)
    for labels, (value,) in sorted(known.items()):
        metric.add_metric(labels, value)
    return metric


def histogram(family: Family, known: dict[Labels, list[float]]) -> Metric:
    metric = HistogramMetricFamily(family.name, family.help, labels=family.labels)
    for labels, (*counts, total) in sorted(known.items()):
        metric.add_metric(labels, list(zip(BOUNDS, cumulated(counts), strict=True)), total)
    return metric


def cumulated(counts: list[float]) -> Iterator[float]:
    total = 0.0
    for count in counts:
        total += count
        yield total
