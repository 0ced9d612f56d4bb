"""Progress, results and problems of imports and exports."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ParamSpec, Protocol, TypeVar

from content.templates import TEMPLATES

from ..errors import CairnError
from .formats import Format
from .notes import ImportProblem

TOLD = 10_000
UNWRITABLE = "UNWRITABLE"
log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class Progress(Protocol):
    """Hears how far a step is; `current` is the note that is next."""

    def __call__(self, step: str, done: int, total: int, current: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ImportResult:
    """`created`, `changed`, `unchanged` and `failed` count notes, and every note is in one of them. `sources` counts
    those that are new, or say something new.

    `links` are the references that the imported pages have now; `broken_links` the names in texts and in `parent`,
    `related` and `links` that no page answers to. `errors` may also tell of a page that was imported without a tie.
    `warnings` tell of what was imported and should be looked at, such as a relation to a page that is not there yet.
    `format` is the tool that the folder was taken for; `left_out` counts other files, by what they end in.
    `attachments` counts the files that were kept beside the pages and are new, or changed.
    """

    created: int
    changed: int
    unchanged: int
    failed: int
    links: int
    broken_links: int
    sources: int
    errors: tuple[ImportProblem, ...]
    warnings: tuple[ImportProblem, ...] = ()
    format: Format = Format.MARKDOWN
    left_out: Mapping[str, int] = field(default_factory=dict)
    attachments: int = 0


def ignore_progress(step: str, done: int, total: int, current: str) -> None:
    """Progress that nobody hears."""


class Problems:
    """The first problems, and how many there are in all."""

    def __init__(self) -> None:
        self.told: list[ImportProblem] = []
        self.count = 0

    def append(self, problem: ImportProblem) -> None:
        self.count += 1
        if len(self.told) < TOLD:
            self.told.append(problem)

    def extend(self, problems: Iterable[ImportProblem]) -> None:
        for problem in problems:
            self.append(problem)

    def take(self, others: "Problems") -> None:
        """Add the problems that were gathered elsewhere, by path: a folder is read in no known order."""
        room = TOLD - len(self.told)
        self.told += sorted(others.told, key=lambda problem: problem.path)[:room]
        self.count += others.count


def try_part(path: str, make: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | ImportProblem:
    """Return what `make` makes of one part of a wiki, or the reason why an export lacks it: the others are written."""
    try:
        return make(*args, **kwargs)
    except Exception as error:
        log.exception("An export lacks %s", path)
        reason = str(error) if isinstance(error, ValueError) else type(error).__name__
        return ImportProblem(path, UNWRITABLE, f"it could not be written out: {reason}")


def unknown_type(type: str, count: int, first: str) -> ImportProblem:
    files = "this file has it" if count == 1 else f"{count:,} files have it, this one first"
    message = (
        f'"{type[:80]}" is no type of Cairn\'s ({files}): the page is what its folder says, else a reference, and the '
        f"type is kept as category in its metadata. Types are {', '.join(TEMPLATES)}"
    )
    return ImportProblem(first, "UNKNOWN_TYPE", message)


def without_text(path: str) -> ImportProblem:
    message = "its text was left out, because a file with redirectTo is no page: remove redirectTo to import the text"
    return ImportProblem(path, "TEXT_LEFT_OUT", message)


def unresolved(path: str, relation: str, name: str) -> ImportProblem:
    message = f'{relation}: no page answers to "{name[:200]}" yet; the tie is made when one does'
    return ImportProblem(path, "BROKEN_RELATION", message)


def problem(path: str, error: CairnError) -> ImportProblem:
    return ImportProblem(path, error.code, error.message)
