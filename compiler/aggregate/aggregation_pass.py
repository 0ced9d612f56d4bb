"""The pass behind the leaf pass, in its transaction: what was just compiled is listed where it belongs.

Its work follows from the pages that the batch touched, and the lists they stand in, however large the wiki is. It asks
the rows alone, never the batch: the same wiki gives the same lists, whoever compiled it in whatever batches.
"""

from collections.abc import Collection, Sequence

from resolvers.model.pages import Page
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..write.page_changes import PageChange
from .growing import grow
from .placing import put_in_place
from .stored import Spot


async def aggregate(writer: Writer, changes: Sequence[PageChange], metrics: Metrics) -> None:
    """After pages, evidence and links are stored."""
    await list_anew(writer, [change.after for change in changes], metrics)


async def list_anew(writer: Writer, pages: Sequence[Page], metrics: Metrics, spots: Collection[Spot] = ()) -> None:
    """These pages, where their evidence puts them now, and the lists that they leave; `spots` are other such lists."""
    topics = [page for page in pages if page.type == "topic"]
    others = [page.id for page in pages if page.type != "topic"]
    touched = await put_in_place(writer, others, topics, metrics) if pages else set()
    await grow(writer, {*touched, *spots}, metrics)
