"""Traces of a forgotten source beside pages: reasons of links, tags, words, the log, errors of jobs, kept answers."""

import re

from content.words import words
from db.sql import statements
from resolvers.links.references import refresh_hubness
from resolvers.transactions.writer import Writer

from ..aggregate.untagging import untag
from ..metrics import Metrics
from .history import erase_states
from .vocabulary import forget_vocabulary
from .wanted import Wanted, needles

FORGETTING = statements("forgetting")
SLUGGED = re.compile(r"[-_]")


async def erase_traces(writer: Writer, wanted: Wanted, done: Metrics) -> None:
    """Tags go before words: what no page says any more is known after them."""
    await drop_reasons(writer, wanted)
    for page in await untag(writer, wanted.gone.words):
        await erase_states(writer, page, wanted.since, done)
    unsaid = await forget_vocabulary(writer, wanted.gone.words)
    await clear_log(writer, wanted, unsaid)
    await writer.run(FORGETTING["erase_job_errors"])
    await writer.run(FORGETTING["drop_answers"], since=wanted.since, needles=needles(wanted, unsaid))


async def drop_reasons(writer: Writer, wanted: Wanted) -> None:
    """Links that nothing but them gives go."""
    reasons = [f"co_mention:{source_id}" for source_id in wanted.gone.ids]
    touched = await writer.all(FORGETTING["drop_reasons"], reasons=reasons)
    await writer.run(FORGETTING["drop_unfounded"])
    refresh_hubness(writer, [row["to_page_id"] for row in touched])


async def clear_log(writer: Writer, wanted: Wanted, unsaid: frozenset[str]) -> None:
    """Names in it that hold a word which nothing says any more."""
    logged = await writer.all(FORGETTING["find_logged_names"], since=wanted.since)
    ids = [row["id"] for row in logged if not unsaid.isdisjoint(words(SLUGGED.sub(" ", str(row["detail"]))))]
    await writer.run(FORGETTING["clear_log"], ids=ids)
