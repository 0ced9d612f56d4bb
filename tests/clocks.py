"""Sets a wrong clock for this process, while the clock of Postgres is right."""

import sys
import time
from datetime import datetime, timedelta, tzinfo
from typing import Any, Self

import pytest

OURS = ("app.", "compiler.", "db.", "resolvers.", "schema.")


class AnyDatetime(type):
    """Makes every datetime count as an instance of the class that stands in for datetime."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, datetime)


def set_clock(monkeypatch: pytest.MonkeyPatch, wrong_by: timedelta) -> None:
    """Make every loaded module of Cairn read a clock that is wrong by `wrong_by`."""
    right = time.time

    class Wrong(datetime, metaclass=AnyDatetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(right() + wrong_by.total_seconds(), tz)

    monkeypatch.setattr(time, "time", lambda: right() + wrong_by.total_seconds())
    for name, module in list(sys.modules.items()):
        if name.startswith(OURS) and getattr(module, "datetime", None) is datetime:
            monkeypatch.setattr(module, "datetime", Wrong)
