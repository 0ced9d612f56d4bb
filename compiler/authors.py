"""The planner and the writer of one job, and when they stop because it would cost too much."""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from db.database import Database
from db.scope import Scope
from resolvers.errors import CairnError
from resolvers.jobs.queue import Job

from .metrics import Metrics
from .planner import Judge, Knowledge, Plan, Planner, SectionTask, SectionWriter, SourceText

# A fence without a language, or of markdown, wraps an answer; any other one is code that the section is to show.
FENCE = re.compile(r"(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^`\r\n]*)")
WRAPPING = ("", "markdown", "md")


class ModelRefused(CairnError):
    """The job asks for something that is not available here, however often it is retried."""

    code = "BAD_USER_INPUT"


class BadAnswer(CairnError):
    """An answer of a section writer that is no text."""

    code = "BAD_ANSWER"

    def __init__(self, task: SectionTask, answer: object) -> None:
        super().__init__(
            f'The section writer answered {type(answer).__name__} for the section "{task.slug}" of '
            f'"{task.page_title}": it has to return a text, which is "" where there is nothing to say.'
        )


async def section_text(writer: SectionWriter, task: SectionTask) -> str:
    """Return the text of one section, without a code fence around all of it. Raises BadAnswer if it is no text."""
    answer: object = await writer.write(task)
    if not isinstance(answer, str):
        raise BadAnswer(task, answer)
    return unwrap_fence(answer)


def unwrap_fence(answer: str) -> str:
    """Return the text in a code fence that encloses the whole answer; any other answer as it is."""
    first, *inner = answer.strip().splitlines() or [""]
    opening = FENCE.fullmatch(first.strip())
    if not inner or not opening or opening["info"].strip().lower() not in WRAPPING:
        return answer
    if inner.pop().strip() != opening["marks"]:
        return answer
    is_open = False
    for line in inner:
        fence = FENCE.fullmatch(line.strip())
        if fence and fence["marks"].startswith(opening["marks"]):
            if not is_open and not fence["info"].strip():
                return answer  # it ends here: the answer has several of them
            is_open = not is_open if fence["info"].strip() == "" or not is_open else is_open
    return answer if is_open else "\n".join(inner).strip("\n")


class Stop(NamedTuple):
    """The reason why no other batch is begun, and when the next may be; None: as soon as the next job may run."""

    reason: str
    until: datetime | None = None


async def never() -> Stop | None:
    """Return None: authors that cost nothing are not stopped."""
    return None


@dataclass(frozen=True, slots=True)
class Authors:
    """A planner and a writer; `batch` is how many sources they take at a time, where that is less than usual.

    Without a `judge` of corrections the rules judge at once.
    """

    planner: Planner
    writer: SectionWriter
    batch: int | None = None
    stop: Callable[[], Awaitable[Stop | None]] = never
    judge: Judge | None = None


class Hiring(Protocol):
    """Finds the authors that a job asks for. What they use is added to the job's metrics as they use it."""

    def authors(self, database: Database, scope: Scope, job: Job, metrics: Callable[[], Metrics]) -> Authors:
        """Return the authors.

        Raises Refused for a model that nobody may use, Unavailable for one that cannot be reached.
        """


async def make_plan(planner: Planner, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
    """Return the plan for these sources. An error says which they were."""
    with noting(f"Planning {describe_sources(sources)} failed"):
        return await planner.plan(sources, knowledge)


async def write_text(writer: SectionWriter, task: SectionTask) -> str:
    """Return the text of a section. An error says which it was."""
    with noting(f"Writing the section {task.slug} of the {task.page_type} “{task.page_title}” failed"):
        return await section_text(writer, task)


@contextmanager
def noting(what_failed: str) -> Iterator[None]:
    """Add to an error what was being done, for the row of the job that fails with it."""
    try:
        yield
    except Exception as error:
        error.add_note(what_failed)
        raise


def describe_sources(sources: Sequence[SourceText]) -> str:
    """Return the number of sources, and the first and the last of them."""
    ends = [f"{source.kind}/{source.ref}" for source in (*sources[:1], *sources[1:][-1:])]
    return f"{len(sources)} source{'s' * (len(sources) != 1)} ({' to '.join(ends)})"
