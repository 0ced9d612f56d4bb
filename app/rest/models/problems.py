"""What is wrong."""

from typing import Literal

from pydantic import ConfigDict, Field

from .shown import Shown


class Fault(Shown):
    """What to mend, and where."""

    field: str | None
    message: str


class Problem(Shown):
    """A problem (RFC 9457). `code` is for programs: docs/reference/errors.md lists them. More members are possible."""

    model_config = ConfigDict(extra="allow")

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    code: str
    request_id: str | None
    field: str | None = None
    errors: list[Fault] = Field([])
    current_version: int | None = None
