"""OpenTelemetry, where the standard variables ask for it and its libraries are installed."""

import asyncio
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Protocol

import structlog

from .observer import Observer

if TYPE_CHECKING:
    from .metrics import Numbers

log = structlog.get_logger()
LAST_WORDS = 3.0  # seconds
LACKING = "OTEL_ variables ask for telemetry, and its libraries are not here: pip install 'cairn-wiki[telemetry]'"


class Provider(Protocol):
    def shutdown(self) -> object:
        """Send what is left. Blocks."""


class Telemetry:
    """The observers that make telemetry, and what must be flushed in the end."""

    def __init__(self) -> None:
        self.observers: list[Observer] = []
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
    """Return the telemetry. `wanted` holds `traces`, `metrics`, both or neither. `numbers` go with the metrics."""
    made = Telemetry()
    if wanted and not is_installed():
        log.warning(LACKING)
    elif wanted:
        from . import otlp  # its libraries are optional

        if "traces" in wanted:
            otlp.add_traces(made)
        if "metrics" in wanted:
            otlp.add_metrics(made, numbers)
    return made


def is_installed() -> bool:
    try:
        import opentelemetry.exporter.otlp.proto.http  # noqa: F401
    except ImportError:
        return False
    return True
