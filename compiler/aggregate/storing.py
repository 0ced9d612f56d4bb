"""Pages that list others, stored."""

from collections.abc import Iterable
from dataclasses import replace

from resolvers.model.pages import Page
from resolvers.pages.update import save_all
from resolvers.transactions.activity import record_each
from resolvers.transactions.writer import Writer

State = tuple[Page | None, Page]
"""A page before, if it was there, and after."""


async def keep(writer: Writer, states: Iterable[State], summary: str) -> list[Page]:
    """As they are now, compiled at this moment; untouched where nothing differs."""
    wanted = list(states)
    changed = {after.id: (before, after) for before, after in wanted if before != after}
    differing = [(before, replace(after, last_compiled_at=writer.now), ()) for before, after in changed.values()]
    saved = {one.page_id: one for one in await save_all(writer, differing, edit_summary=summary)}
    await record_each(writer, "page.created", [one for one in saved.values() if one.created])
    await record_each(writer, "page.compiled", [one for one in saved.values() if not one.created])
    kept = {after.id: replace(after, version=saved[after.id].version) for _, after, _ in differing}
    return [kept.get(after.id, after) for _, after in wanted]
