"""OpenTelemetry, if the standard environment variables configure it and its libraries are installed."""

import asyncio
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Protocol

import structlog

from .observer import Observer

if TYPE_CHECKING:
    from .metrics import Numbers

log = structlog.get_logger()
FLUSH_TIMEOUT = 3.0  # seconds
LACKING = "OTEL_ variables ask for telemetry, and its libraries are not here: pip install 'cairn-wiki[telemetry]'"


class Provider(Protocol):
    def shutdown(self) -> object:
        """Send the remaining spans or metrics. This call blocks."""


class Telemetry:
    """The observers that create telemetry, and the providers that must be flushed at the end."""

    def __init__(self) -> None:
        self.observers: list[Observer] = []
        self.providers: list[Provider] = []

    async def close(self) -> None:
        """Send the remaining spans and metrics, and wait at most FLUSH_TIMEOUT for a collector that does not answer."""
        sending = [Thread(target=provider.shutdown, daemon=True) for provider in self.providers]
        for thread in sending:
            thread.start()
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_TIMEOUT):
                while any(thread.is_alive() for thread in sending):  # noqa: ASYNC110  # threads have no event to await
                    await asyncio.sleep(0.01)


def telemetry(wanted: frozenset[str], numbers: "Numbers | None") -> Telemetry:
    """Set up telemetry. `wanted` holds `traces`, `metrics`, both or neither. Metrics include `numbers`."""
    result = Telemetry()
    if wanted and not is_installed():
        log.warning(LACKING)
    elif wanted:
        from . import otlp  # its libraries are optional

        if "traces" in wanted:
            otlp.add_traces(result)
        if "metrics" in wanted:
            otlp.add_metrics(result, numbers)
    return result


def is_installed() -> bool:
    try:
        import opentelemetry.exporter.otlp.proto.http  # noqa: F401
    except ImportError:
        return False
    return True
