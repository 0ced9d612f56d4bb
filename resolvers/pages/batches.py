"""Batches that change many pages in the same way. Each page is changed in a transaction of its own."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from content.limits import TAGS
from db.database import Database
from db.scope import Scope

from .. import validation
from ..errors import BadInput, CairnError
from ..model.pages import Saved
from ..proposals.operations import proposable
from ..transactions.transaction import writing_page
from ..transactions.writer import record
from .lifecycle import archive_page, unarchive_page
from .update import save

PAGES_MAX = 100


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """The outcome for the page at a position of the batch, counted from 0: the saved page, or the error."""

    position: int
    saved: Saved | None = None
    error: CairnError | None = None


async def archive_pages(database: Database, scope: Scope, page_ids: Sequence[UUID]) -> list[BatchOutcome]:
    """Archive up to PAGES_MAX pages."""
    return await change_each(page_ids, lambda page_id: archive_page(database, scope, page_id))


async def unarchive_pages(database: Database, scope: Scope, page_ids: Sequence[UUID]) -> list[BatchOutcome]:
    """Unarchive up to PAGES_MAX pages."""
    return await change_each(page_ids, lambda page_id: unarchive_page(database, scope, page_id))


async def tag_pages(
    database: Database, scope: Scope, page_ids: Sequence[UUID], *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> list[BatchOutcome]:
    """Add tags to up to PAGES_MAX pages, and remove other tags from them."""
    added, removed = tags(add, "add"), tags(remove, "remove")
    if both := sorted(set(added) & set(removed)):
        raise BadInput(f'The tag "{both[0]}" cannot be added and removed at once.', "remove")
    return await change_each(page_ids, lambda page_id: retag_page(database, scope, page_id, added, removed))


@proposable
async def retag_page(
    database: Database, scope: Scope, page_id: UUID, added: Sequence[str], removed: Sequence[str]
) -> Saved:
    async with writing_page(database, scope, page_id) as (writer, page):
        left = [tag for tag in page.tags if tag not in removed]
        wanted = tuple(dict.fromkeys([*left, *added]))
        if len(wanted) > TAGS.maximum:
            raise BadInput(f"{page.name[0].upper()}{page.name[1:]} would have more than {TAGS.maximum} tags.", "add")
        saved = await save(writer, page, replace(page, tags=wanted))
        if saved.changed:
            await record(writer, "page.tagged", page.id, version=saved.version)
        return saved


async def change_each(page_ids: Sequence[UUID], change: Callable[[UUID], Awaitable[Saved]]) -> list[BatchOutcome]:
    """Change one page after the other. An error for one page does not affect the others."""
    outcomes = []
    for position, page_id in enumerate(validation.check_count(page_ids, PAGES_MAX, "pageIds")):
        try:
            outcomes.append(BatchOutcome(position, await change(page_id)))
        except CairnError as error:
            outcomes.append(BatchOutcome(position, error=error))
    return outcomes


def tags(values: Sequence[str], field: str) -> tuple[str, ...]:
    """Return the tags cleaned by `validation.tags`. A BadInput names the given field instead of `tags`."""
    try:
        return validation.tags(values)
    except BadInput as error:
        raise BadInput(error.message, (error.field or "tags").replace("tags", field, 1)) from None
