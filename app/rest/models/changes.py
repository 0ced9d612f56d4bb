"""What changed in the wiki."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from .pages import PageItem
from .shown import Listed, Shown


class Change(Shown):
    """The last change of a page; `page` as it is now, archived ones too."""

    position: int
    page_id: UUID
    state: Literal["active", "archived", "deleted"]
    changed_at: datetime
    page: PageItem | None


class Changes(Listed):
    """`resume` is the `cursor` with which to ask later for what has changed since."""

    items: list[Change]
    resume: str | None
