"""A page that lists others, stored."""

from dataclasses import replace

from resolvers.activity import record
from resolvers.records import Page
from resolvers.revisions import save
from resolvers.writer import Writer


async def keep(writer: Writer, before: Page | None, after: Page, summary: str) -> Page:
    """As it is now, compiled at this moment; untouched where nothing differs."""
    if before == after:
        return after
    after = replace(after, last_compiled_at=writer.now)
    saved = await save(writer, before, after, edit_summary=summary)
    action = "page.created" if before is None else "page.compiled"
    await record(writer, action, saved.page_id, version=saved.version)
    return replace(after, version=saved.version)
