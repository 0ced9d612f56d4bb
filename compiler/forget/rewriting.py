"""Pages that rest on a forgotten source no more, and whatever lists them, in one transaction."""

from collections.abc import Sequence
from uuid import UUID

from db.sql import statements
from resolvers.model.pages import find_pages
from resolvers.transactions.writer import Writer

from ..aggregate.aggregation_pass import list_anew
from ..aggregate.stored import find_lists
from ..metrics import Metrics
from ..rebuild.pages import Remade
from .lists import clear, relist
from .pages import is_left, remove, store, unfound
from .titles import respell, retitled
from .wanted import Wanted

FORGETTING = statements("forgetting")


async def rewrite_pages(
    writer: Writer, page_ids: Sequence[UUID], pages: Sequence[Remade], wanted: Wanted, done: Metrics
) -> None:
    """Who lists them is looked up first: a page that goes takes that with it."""
    children = {row["id"] for row in await writer.all(FORGETTING["find_with_children"], page_ids=page_ids)}
    lists = await find_lists(writer, page_ids)
    showing = await writer.all(FORGETTING["find_showing"], page_ids=page_ids)
    above = await find_pages(writer, {row["page_id"] for row in showing} | {page_id for page_id, _ in lists})
    pages = [await retitled(writer, remade) if is_left(remade.after, children) else remade for remade in pages]
    for remade in pages:
        if is_left(remade.after, children):
            await store(writer, remade, wanted, done)
        else:
            await remove(writer, remade.before, done)
    await unfound(writer, page_ids, wanted)
    left = [remade for remade in pages if is_left(remade.after, children)]
    await list_anew(writer, [remade.after for remade in left], done, lists)
    await relist(writer, above, pages, children)
    for remade in left:
        await respell(writer, remade, wanted, done)
    await clear(writer, above, wanted, done)
