"""Tests that the watchdog reports which code holds the event loop."""

import asyncio
import sys
import time
from pathlib import Path
from types import FrameType
from typing import cast

import pytest
from structlog.testing import capture_logs

from app.observability.event_loop_watchdog import Hold, Watchdog, format_frames, log_hold, watch_loop
from content.normalization import fold_letters
from tests.app.service import serving
from tests.loop_holds import LoopTime, assert_loop_not_held
from tests.waiting import within
from tests.wiki import Wiki

THRESHOLD = 0.1


def compute(seconds: float) -> None:
    """Compute for that much CPU time."""
    ends = time.thread_time() + seconds
    while time.thread_time() < ends:
        pass


async def test_the_stack_and_the_time_of_a_hold_are_reported() -> None:
    holds: list[Hold] = []
    watchdog = Watchdog(THRESHOLD, holds.append)
    compute(4 * THRESHOLD)
    async with within("no hold of the loop was reported"):
        while not holds:
            await asyncio.sleep(0.01)
    watchdog.stop()
    assert holds[0].seconds >= holds[0].computed >= 4 * THRESHOLD
    assert any("test_watchdog.py" in frame and frame.endswith(" compute") for frame in holds[0].stack)


def test_a_stack_that_changed_is_reported_as_far_as_it_can_be_followed() -> None:
    """The caller of a frame whose thread has continued can be False instead of a frame."""
    assert tuple(format_frames(cast(FrameType, False))) == ()
    assert next(format_frames(sys._getframe())).endswith("it_can_be_followed")


async def test_waiting_is_not_reported_as_a_hold() -> None:
    holds: list[Hold] = []
    clock = LoopTime()
    watchdog = Watchdog(THRESHOLD, holds.append, clock)
    for _ in range(20):
        await asyncio.sleep(0.02)
        compute(0.005)
    watchdog.stop()
    clock.close()
    assert not holds


def test_a_record_names_the_time_and_the_frames() -> None:
    with capture_logs() as logs:
        log_hold(Hold(0.3214, 0.2, ("a.py:1 f", "b.py:2 g")))
    fields = {"ms": 321, "cpu_ms": 200, "frames": ["a.py:1 f", "b.py:2 g"]}
    assert logs == [{"event": "event loop held", "log_level": "warning", **fields}]


async def test_a_threshold_of_zero_starts_no_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.observability.event_loop_watchdog.Watchdog", None)
    with watch_loop(0):
        pass


async def test_a_service_reports_a_hold_of_the_event_loop(
    dsn: str, wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holds: list[Hold] = []
    monkeypatch.setattr(
        "app.observability.event_loop_watchdog.Watchdog.__init__.__defaults__", (holds.append, time.monotonic)
    )
    async with serving(dsn, tmp_path, slow_loop=0.05):
        compute(0.2)
        async with within("no hold of the loop was told"):
            while not holds:
                await asyncio.sleep(0.01)
    assert holds[0].seconds >= 0.2


async def test_tests_fail_if_the_product_holds_the_loop() -> None:
    async def hold() -> None:
        with assert_loop_not_held():
            fold_letters("é" * 1_500_000)
            await asyncio.sleep(0.2)

    with pytest.raises(AssertionError, match=r"content.normalization\.py"):
        await hold()
