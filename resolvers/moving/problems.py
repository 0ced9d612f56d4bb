"""What went wrong in an import: counted to the last, told as far as anybody reads."""

from collections.abc import Iterable

from .pieces import Problem

TOLD = 10_000


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
