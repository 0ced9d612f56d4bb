"""Words that search counts and suggests, forgotten where no page says them any more."""

from collections.abc import Collection

from db.sql import statements
from resolvers.search.index import count_words, vocabulary
from resolvers.transactions.writer import Writer

FORGETTING = statements("forgetting")


async def forget_vocabulary(writer: Writer, said: Collection[str]) -> frozenset[str]:
    """Take words that no page says any more out of what search counts and suggests: these words."""
    unsaid: set[str] = set(said)
    for analyser in await count_words(writer):
        given = {"analyser": analyser, "words": vocabulary(sorted(said))}
        gone = [row["word"] for row in await writer.all(FORGETTING["find_unsaid"], **given)]
        await writer.run(FORGETTING["drop_words"], analyser=analyser, words=gone)
        await writer.run(FORGETTING["drop_empty_words"], analyser=analyser)
        unsaid &= set(gone)
    return frozenset(unsaid)
