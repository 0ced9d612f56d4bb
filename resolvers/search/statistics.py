"""What the words of a wiki are like: in how many pages each is, how long pages are, how words are written.

A write only adds to a log, and the write that finds the log long folds it in. A wiki has one writer at a time, so
nobody waits for a hot row and nobody folds twice. Ranking is therefore behind by at most `tolerated` pages, and while
an import writes by MOST. Only what goes with a deleted page is counted at once.
"""

from math import ceil, log2

from db.sql import statements

from ..writer import Writer

STATISTICS = statements("search_statistics")
SHARE, MOST = 10, 400  # a tenth of the pages, and never more than so many
USUAL, LARGE = 500, 1_500  # bytes of a shelf when shelves were made, and when there are too few


def tolerated(pages: int) -> int:
    """How many changed pages may wait to be counted."""
    return min(MOST, pages // SHARE)


async def fold_when_due(writer: Writer, analyser: int, *, pages: int, waiting: int, later: bool = False) -> None:
    """`later` when more pages follow at once and `fold` after them: they wait together, but for a wiki's first."""
    if waiting > (MOST if later and pages else tolerated(pages)):
        await fold(writer, analyser)


async def fold(writer: Writer, analyser: int) -> list[int]:
    """Count what the log says, and empty it. Shelves that have become large are made more.

    Gives the other analysers that have an index of the wiki.
    """
    row = await writer.one(STATISTICS["fold_terms"], analyser=analyser)
    assert row is not None
    if row["size"] and row["size"] > LARGE:
        times = 2 ** ceil(log2(row["size"] / USUAL))
        await writer.run(STATISTICS["add_shelves"], analyser=analyser, times=times)
    others: list[int] = row["others"]
    return others
