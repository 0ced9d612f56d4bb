"""What went wrong in an import or an export: counted to the last, told as far as anybody reads."""

import logging
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from .notes import Problem

TOLD = 10_000
UNWRITABLE = "UNWRITABLE"
log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class Problems:
    """The first ones, and how many there are in all."""

    def __init__(self) -> None:
        self.told: list[Problem] = []
        self.count = 0

    def append(self, problem: Problem) -> None:
        self.count += 1
        if len(self.told) < TOLD:
            self.told.append(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self.append(problem)

    def take(self, others: "Problems") -> None:
        """What was gathered elsewhere, by path: nobody says in which order a folder is read."""
        room = TOLD - len(self.told)
        self.told += sorted(others.told, key=lambda problem: problem.path)[:room]
        self.count += others.count


def attempted(path: str, make: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | Problem:
    """What is made of one part of a wiki for an export, or why it is missing there: the other parts are written."""
    try:
        return make(*args, **kwargs)
    except Exception as error:
        log.exception("An export lacks %s", path)
        reason = str(error) if isinstance(error, ValueError) else type(error).__name__
        return Problem(path, UNWRITABLE, f"it could not be written out: {reason}")
