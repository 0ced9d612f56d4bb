"""Progress, results and problems of imports and exports."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ParamSpec, Protocol, TypeVar

from content.templates import TEMPLATES

from ..errors import CairnError
from .formats import Format
from .notes import ImportProblem

LISTED_MAX = 10_000
UNWRITABLE = "UNWRITABLE"
log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class Progress(Protocol):
    """A callback that is told the progress of a step; `current` names the current note."""

    def __call__(self, step: str, done: int, total: int, current: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import.

    `created`, `changed`, `unchanged` and `failed` count notes; every note is counted in one of them. `sources` counts
    the new sources and new versions. `links` is the number of references that the imported pages have now, and
    `broken_links` the number of names in texts and in `parent`, `related` and `links` that no page has. `errors` may
    include pages that were imported without one of their relations. `warnings` are about imported notes that somebody
    should check, such as a relation to a page that does not exist yet. `format` is the tool that the folder was
    recognised as, `left_out` counts the skipped files by their ending, and `attachments` counts the new or changed
    attachments.
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
    """Ignore the progress of a step."""


class Problems:
    """The first LISTED_MAX problems, and the number of all problems."""

    def __init__(self) -> None:
        self.listed: list[ImportProblem] = []
        self.count = 0

    def append(self, problem: ImportProblem) -> None:
        self.count += 1
        if len(self.listed) < LISTED_MAX:
            self.listed.append(problem)

    def extend(self, problems: Iterable[ImportProblem]) -> None:
        for problem in problems:
            self.append(problem)

    def merge(self, others: "Problems") -> None:
        """Add other problems, sorted by path, because a folder is read in an arbitrary order."""
        room = LISTED_MAX - len(self.listed)
        self.listed += sorted(others.listed, key=lambda problem: problem.path)[:room]
        self.count += others.count


def try_part(path: str, make: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | ImportProblem:
    """Return the result of `make`, or a problem if it raises, so that an export continues without this part."""
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
