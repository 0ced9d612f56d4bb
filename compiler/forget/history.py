"""Former states of pages: those that quote a forgotten source are erased."""

from datetime import datetime
from uuid import UUID

from db.sql import statements
from lib.threads import read_in_thread
from resolvers.model.names import find_names
from resolvers.model.pages import Page, find_pages
from resolvers.pages.revision_store import find_states
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from .wanted import ForgetRequest

FORGETTING = statements("sources/forgetting")


async def erase_states(writer: Writer, page: Page, since: datetime, done: Metrics) -> None:
    """Erase everything that the page said since then and says no more."""
    names = (await find_names(writer, page))[page.id]
    kept = {"slug": page.slug, "metadata": page.metadata or {}, "aliases": sorted(names.aliases)}
    whole = {"version": page.version, "body_md": page.body, **kept}
    await writer.run(FORGETTING["make_state_whole"], page_id=page.id, **whole)
    given = {"page_id": page.id, "version": page.version, "title": page.title, "summary": page.summary}
    erased = await writer.run(FORGETTING["erase_states"], **given, since=since)
    await writer.run(FORGETTING["drop_original"], page_id=page.id)
    done.add("states_erased", erased)


async def last_quoting(reader: Writer, page_id: UUID, wanted: ForgetRequest) -> int | None:
    """Return the last version since then that quotes them; None when there is none."""
    rows = await reader.all(FORGETTING["find_versions_since"], page_id=page_id, since=wanted.since)
    for row in reversed(rows):
        (state,) = await find_states(reader, reader.scope, page_id, [row["version"]])
        text = f"{state.body}\n{state.summary or ''}\n{row['edit_summary'] or ''}"
        if await read_in_thread(len(text), wanted.is_repeated_in, text):
            return state.version
    return None


async def erase_history(writer: Writer, page_id: UUID, wanted: ForgetRequest, done: Metrics) -> None:
    """Erase former states that quote forgotten sources.

    What a page says now, resting on nothing forgotten, belongs to whoever wrote it.
    """
    page = (await find_pages(writer, [page_id])).get(page_id)
    version = await last_quoting(writer, page_id, wanted)
    if page is None or version is None:
        return
    if version == page.version and await is_a_persons(writer, page, wanted):
        done.repeats(page_id)
    await erase_states(writer, page, wanted.since, done)


async def is_a_persons(reader: Writer, page: Page, wanted: ForgetRequest) -> bool:
    """Return whether the page says of them what no other source of it does, nor one of the pages that it links to."""
    text = f"{page.body}\n{page.summary or ''}"
    others = [row["said"] for row in await reader.all(FORGETTING["find_said_besides"], page_id=page.id)]
    return await read_in_thread(len(text) + sum(map(len, others)), wanted.is_own_in, text, others)
