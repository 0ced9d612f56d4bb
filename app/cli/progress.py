"""Progress bars on stderr."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from resolvers.import_export import results

NAME_WIDTH = 40  # last characters of a note's name that are shown


@contextmanager
def progress(title: str = "") -> Iterator[results.Progress]:
    """Yield a callback that shows a progress bar for each step, under the title. It does nothing without a terminal."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}")
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        yield Bars(bars, f"{title} " if title else "")


class Bars:
    """A set of progress bars, one for each step. A bar is added when its step begins."""

    def __init__(self, bars: Progress, title: str) -> None:
        self.bars = bars
        self.title = title
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, step: str, done: int, total: int, current: str) -> None:
        if step not in self.tasks:
            self.tasks[step] = self.bars.add_task(self.title + step, total=total, note="")
        note = "" if done == total else current[-NAME_WIDTH:].replace("[", r"\[")
        self.bars.update(self.tasks[step], completed=done, total=total, note=note)
