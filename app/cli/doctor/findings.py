"""The findings of `cairn doctor`: what a check has found, and how to fix it."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The outcome of a check."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check. `action` says how to fix a problem, and is empty if there is none."""

    check: str
    state: State
    message: str
    action: str = ""


def passed(check: str, message: str) -> Finding:
    return Finding(check, State.OK, message)


def warned(check: str, message: str, action: str) -> Finding:
    return Finding(check, State.WARNING, message, action)


def failed(check: str, message: str, action: str) -> Finding:
    return Finding(check, State.FAILED, message, action)
