"""The planner and the section writer of one job, and the reason to stop them when the budget is used up."""

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

# A fence without a language, or with a language of WRAPPING, may wrap a whole answer. Any other fence is code to show.
FENCE = re.compile(r"(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^`\r\n]*)")
WRAPPING = ("", "markdown", "md")


class ModelRefused(CairnError):
    """Raised if a job needs a model or a service that this worker does not offer. A retry would fail as well."""

    code = "BAD_USER_INPUT"


class BadAnswer(CairnError):
    """Raised if a section writer returns something other than a string."""

    code = "BAD_ANSWER"

    def __init__(self, task: SectionTask, answer: object) -> None:
        super().__init__(
            f'The section writer answered {type(answer).__name__} for the section "{task.slug}" of '
            f'"{task.page_title}": it has to return a text, which is "" where there is nothing to say.'
        )


async def section_text(writer: SectionWriter, task: SectionTask) -> str:
    """Return the text of one section, without a code fence around all of it. Raises BadAnswer if it is no string."""
    answer: object = await writer.write(task)
    if not isinstance(answer, str):
        raise BadAnswer(task, answer)
    return unwrap_fence(answer)


def unwrap_fence(answer: str) -> str:
    """Return the text inside a code fence that encloses the whole answer, or else the answer unchanged."""
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
                return answer  # the outer fence ends here, so the answer consists of several fences
            is_open = not is_open if fence["info"].strip() == "" or not is_open else is_open
    return answer if is_open else "\n".join(inner).strip("\n")


class Stop(NamedTuple):
    """The reason why a job begins no further batch."""

    reason: str
    until: datetime | None = None
    """When the follow-up job may start; None: at the wiki's next compile interval."""


async def never() -> Stop | None:
    """Return None. This is the `stop` of authors without a budget."""
    return None


@dataclass(frozen=True, slots=True)
class Authors:
    """The planner and the section writer of one job."""

    planner: Planner
    writer: SectionWriter
    batch: int | None = None
    """The number of sources per batch, if it is lower than usual."""
    stop: Callable[[], Awaitable[Stop | None]] = never
    """Returns why the job must stop, or None to go on."""
    judge: Judge | None = None
    """Decides about corrections. None: the rules decide, without a request to a model."""


class AuthorFactory(Protocol):
    """Creates the authors of a job, which add their usage to the job's metrics while they work."""

    def authors(self, database: Database, scope: Scope, job: Job, metrics: Callable[[], Metrics]) -> Authors:
        """Return the authors that the job names. Raises ModelRefused for a model that is not offered."""


async def make_plan(planner: Planner, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
    """Return the plan for these sources. An error gets a note that names them."""
    with noting(f"Planning {describe_sources(sources)} failed"):
        return await planner.plan(sources, knowledge)


async def write_text(writer: SectionWriter, task: SectionTask) -> str:
    """Return the text of a section. An error gets a note that names the section and its page."""
    with noting(f"Writing the section {task.slug} of the {task.page_type} “{task.page_title}” failed"):
        return await section_text(writer, task)


@contextmanager
def noting(what_failed: str) -> Iterator[None]:
    """Add a note to an error that is raised in the block, for the `error` of the job that fails with it."""
    try:
        yield
    except Exception as error:
        error.add_note(what_failed)
        raise


def describe_sources(sources: Sequence[SourceText]) -> str:
    """Return the number of sources with the kind and ref of the first and the last."""
    ends = [f"{source.kind}/{source.ref}" for source in (*sources[:1], *sources[1:][-1:])]
    return f"{len(sources)} source{'s' * (len(sources) != 1)} ({' to '.join(ends)})"
