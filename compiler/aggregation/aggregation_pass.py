"""The pass behind the leaf pass, in its transaction: what was just compiled is listed where it belongs.

Its work follows from the pages that the batch touched, and the lists they stand in, however large the wiki is. It asks
the rows alone, never the batch: the same wiki gives the same lists, whoever compiled it in whatever batches.
"""

from collections.abc import Sequence

from resolvers.writer import Writer

from ..composing import PageChange
from ..metrics import Metrics
from .growing import grow
from .placing import put_in_place


async def aggregate(writer: Writer, changes: Sequence[PageChange], metrics: Metrics) -> None:
    """After pages, evidence and links are stored."""
    topics = [change.after for change in changes if change.after.type == "topic"]
    others = [change.after.id for change in changes if change.after.type != "topic"]
    if changes:
        await grow(writer, await put_in_place(writer, others, topics, metrics), metrics)
