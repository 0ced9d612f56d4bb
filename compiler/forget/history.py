"""Erasing the revisions of pages that quote a forgotten source."""

from datetime import datetime
from uuid import UUID

from db.sql import statements
from lib.threads import offload
from resolvers.model.names import find_names
from resolvers.model.pages import Page, find_pages
from resolvers.pages.revision_store import find_states
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from .request import ForgetRequest, lower_bounds

FORGETTING = statements("sources/forgetting")


async def erase_states(writer: Writer, page: Page, since: datetime, done: Metrics) -> None:
    """Erase the content of all revisions of the page since then, except for the present one.

    A page that was added since then may have brought older revisions along, so all of its former revisions are erased.

    The present revision is first stored in full, because it may be stored as a difference from an erased one.
    """
    names = (await find_names(writer, page))[page.id]
    fields = {"slug": page.slug, "metadata": page.metadata or {}, "aliases": sorted(names.aliases)}
    full = {"version": page.version, "body_md": page.body, **fields}
    await writer.run(FORGETTING["make_state_whole"], page_id=page.id, **full)
    present = {"page_id": page.id, "version": page.version, "title": page.title, "summary": page.summary}
    erased = await writer.run(FORGETTING["erase_states"], **present, **lower_bounds(since))
    await writer.run(FORGETTING["drop_original"], page_id=page.id)
    done.add("states_erased", erased)


async def find_last_quoting(reader: Writer, page_id: UUID, request: ForgetRequest) -> int | None:
    """Return the last version of the page that quotes a forgotten source, or None."""
    rows = await reader.all(FORGETTING["find_versions_since"], page_id=page_id, **lower_bounds(request.since))
    for row in reversed(rows):
        (state,) = await find_states(reader, reader.scope, page_id, [row["version"]])
        text = f"{state.body}\n{state.summary or ''}\n{row['edit_summary'] or ''}"
        if await offload(len(text), request.is_repeated_in, text):
            return state.version
    return None


async def erase_history(writer: Writer, page_id: UUID, request: ForgetRequest, done: Metrics) -> None:
    """Erase the former revisions of a page, if one of its revisions quotes a forgotten source.

    The present text cites no forgotten source, so it is not changed. If it still quotes one, a person wrote that, and
    the page is reported as repeating the source.
    """
    page = (await find_pages(writer, [page_id])).get(page_id)
    version = await find_last_quoting(writer, page_id, request)
    if page is None or version is None:
        return
    if version == page.version and await is_repeating(writer, page, request):
        done.add_repeating(page_id)
    await erase_states(writer, page, request.since, done)


async def is_repeating(reader: Writer, page: Page, request: ForgetRequest) -> bool:
    """Return whether the present text quotes a forgotten source.

    Phrases that its present sources, or the sources of the pages that it links to, contain as well do not count.
    """
    text = f"{page.body}\n{page.summary or ''}"
    others = [row["said"] for row in await reader.all(FORGETTING["find_said_besides"], page_id=page.id)]
    return await offload(len(text) + sum(map(len, others)), request.is_repeated_only_in, text, others)
