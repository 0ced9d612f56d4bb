"""Versions of a page, and what is between them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from .given import VERSION_MAX, ExpectedVersion, Given
from .shown import Listed, Shown

Version = Annotated[int, Field(ge=1, le=VERSION_MAX)]


class Restoration(Given):
    """A version whose title, summary, text, tags and metadata come again, as a new version."""

    version: Version
    expected_version: ExpectedVersion = None


class Revision(Shown):
    """A version of a page."""

    version: int
    title: str
    edit_summary: str | None
    author_type: Literal["agent", "user", "compiler", "service"]
    author_id: str
    author_name: str
    created_at: datetime


class History(Listed):
    items: list[Revision]


class Difference(Shown):
    """How the text changed, as `diff -u` says it."""

    from_version: int
    to_version: int
    unified: str
    lines_added: int
    lines_removed: int
    is_truncated: bool
