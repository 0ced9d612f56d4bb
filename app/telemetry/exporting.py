"""From what the environment wants to what is sent where. The SDK reads OTEL_ variables itself: these say only which."""

import asyncio
from contextlib import suppress
from importlib.metadata import version
from threading import Thread
from typing import TYPE_CHECKING, Protocol

import structlog

from app.watching import Watcher

if TYPE_CHECKING:
    from app.metrics.numbers import Numbers

log = structlog.get_logger()
LAST_WORDS = 3.0  # seconds
LACKING = "OTEL_ variables ask for telemetry, and its libraries are not here: pip install 'cairn-wiki[telemetry]'"


class Provider(Protocol):
    def shutdown(self) -> object:
        """Send what is left. Blocks."""


class Telemetry:
    """The watchers that make telemetry, and what must be flushed in the end."""

    def __init__(self) -> None:
        self.watchers: list[Watcher] = []
        self.providers: list[Provider] = []

    async def close(self) -> None:
        """Send what is left; a collector that does not answer is waited for no longer than LAST_WORDS."""
        sending = [Thread(target=provider.shutdown, daemon=True) for provider in self.providers]
        for thread in sending:
            thread.start()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                while any(thread.is_alive() for thread in sending):  # noqa: ASYNC110  # threads tell nobody
                    await asyncio.sleep(0.01)


def telemetry(wanted: frozenset[str], numbers: "Numbers | None") -> Telemetry:
    """`wanted` holds `traces`, `metrics`, both or neither. `numbers` are exported with the metrics."""
    made = Telemetry()
    if wanted and not is_installed():
        log.warning(LACKING)
    elif wanted:
        add_traces(made, wanted)
        add_metrics(made, wanted, numbers)
    return made


def is_installed() -> bool:
    try:
        import opentelemetry.exporter.otlp.proto.http  # noqa: F401
    except ImportError:
        return False
    return True


def add_traces(made: Telemetry, wanted: frozenset[str]) -> None:
    if "traces" not in wanted:
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from .resource import resource
    from .spans import Spans

    provider = TracerProvider(resource=resource(), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    made.providers.append(provider)
    made.watchers.append(Spans(provider.get_tracer("cairn", version("cairn-wiki"))))


def add_metrics(made: Telemetry, wanted: frozenset[str], numbers: "Numbers | None") -> None:
    if "metrics" not in wanted:
        return
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    from .measures import Measures, observe
    from .resource import resource

    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    provider = MeterProvider([reader], resource=resource(), shutdown_on_exit=False)
    meter = provider.get_meter("cairn", version("cairn-wiki"))
    made.providers.append(provider)
    made.watchers.append(Measures(meter))
    if numbers is not None:
        observe(meter, numbers)
