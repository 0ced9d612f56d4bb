"""Pages brought to their next states, new ones and known ones, with everything that follows from their content."""

from collections.abc import Sequence

from .changing import Change, change
from .creating import NewPage, create
from .page_texts import PageText, read_sections
from .records import Page, Saved
from .writer import Writer

State = tuple[Page | None, Page, Sequence[str]]
"""A page before, if it was there, and after, and other names for it."""


async def save(
    writer: Writer,
    before: Page | None,
    after: Page,
    *,
    text: PageText | None = None,
    edit_summary: str | None = None,
    aliases: Sequence[str] = (),
    alias_source: str = "manual",
    former_slugs: Sequence[str] = (),
) -> Saved:
    """Write what differs. A change of content makes a version; a compile stamp alone does not count as a change.

    `text` is what the page will say, if it was read already.
    """
    if before is None:
        text = text if text and text.sections == after.sections else await read_sections(after.sections)
        new = NewPage(after, text, aliases, alias_source, former_slugs, edit_summary)
        (created,) = await create(writer, new)
        return created
    known = Change(before, after, aliases, alias_source, former_slugs, edit_summary, text)
    (changed,) = await change(writer, known)
    return changed


async def save_all(
    writer: Writer, states: Sequence[State], *, edit_summary: str | None = None, alias_source: str = "manual"
) -> list[Saved]:
    """The same of many pages, each once, in a fixed number of statements."""
    new = [
        NewPage(after, await read_sections(after.sections), names, alias_source, edit_summary=edit_summary)
        for before, after, names in states
        if before is None
    ]
    known = [
        Change(before, after, names, alias_source, edit_summary=edit_summary)
        for before, after, names in states
        if before is not None
    ]
    made = [*(await create(writer, *new) if new else ()), *(await change(writer, *known) if known else ())]
    saved = {one.page_id: one for one in made}
    return [saved[after.id] for _, after, _ in states]
