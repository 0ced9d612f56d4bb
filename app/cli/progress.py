"""A bar on stderr while notes are imported."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from resolvers.moving import importing

NAME_WIDTH = 40  # characters of the note's name that are shown


@contextmanager
def progress() -> Iterator[importing.Progress]:
    """A bar for each step. Where nobody watches, nothing."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}")
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        yield Bars(bars)


class Bars:
    """One bar for each step, made when it begins."""

    def __init__(self, bars: Progress) -> None:
        self.bars, self.tasks = bars, dict[str, TaskID]()

    def __call__(self, step: str, done: int, total: int, current: str) -> None:
        if step not in self.tasks:
            self.tasks[step] = self.bars.add_task(step, total=total, note="")
        self.bars.update(self.tasks[step], completed=done, note=current[-NAME_WIDTH:].replace("[", r"\["))
