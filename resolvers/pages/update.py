"""Update existing pages with their sections, names, links, search rows and revisions.

Any number of pages takes a fixed number of statements.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from content.markdown.sections import Section
from db.connection import Row
from db.sql import statements
from lib.threads import read_in_thread

from ..errors import BadInput
from ..links.references import dependants, refresh_hubness
from ..links.targets import refuse_private_links, resolve, write_targets
from ..model.names import Names, check_number, everyone, former_address, known_names, take_names, write_names
from ..model.pages import Page, Saved
from ..search.index import Findable, restate_search, write_search
from ..sources.grounding import ground
from ..subscriptions.changes import ChangeKind
from ..transactions.writer import Writer
from .insert import (
    IMPORTED,
    INSERT_REVISION,
    Called,
    PageText,
    PageToInsert,
    alias_rows,
    aliases,
    content_row,
    create,
    read_sections,
    revision_row,
    write_sections,
)
from .revision_store import Known, compact_rows, find_bases

PAGES = statements("pages/pages")
SECTIONS = statements("pages/sections")


@dataclass(slots=True)
class PageChange:
    """A page before and after an update, its new names, and its parsed text, if the caller has parsed it."""

    before: Page
    after: Page
    aliases: Sequence[str] = ()
    alias_source: str = "manual"
    former_slugs: Sequence[str] = ()
    edit_summary: str | None = None
    text: PageText | None = None
    names: Names = field(default_factory=Names, init=False)
    is_named: bool = field(default=False, init=False)
    """Whether the page has got a new alias or former slug."""

    @property
    def is_revised(self) -> bool:
        """Return whether the content changed, which makes a new version."""
        return self.before.content != self.after.content

    @property
    def is_rewritten(self) -> bool:
        return self.before.sections != self.after.sections

    @property
    def has_new_texts(self) -> bool:
        """Return whether the text of a section changed."""
        texts = {section.slug: section.body for section in self.before.sections}
        return any(texts.get(section.slug) != section.body for section in self.after.sections)

    @property
    def is_restated(self) -> bool:
        return self.before.status != self.after.status

    @property
    def is_retitled(self) -> bool:
        return (self.before.slug, self.before.title) != (self.after.slug, self.after.title)

    @property
    def is_renamed(self) -> bool:
        """Return whether the rows of the page's searchable names change."""
        return self.is_named or self.is_restated or self.is_retitled

    @property
    def kind(self) -> ChangeKind:
        """Return the kind of the change for the change feed."""
        if self.is_restated:
            return ChangeKind.ARCHIVED if self.after.status == "archived" else ChangeKind.RESTORED
        return ChangeKind.RENAMED if self.is_retitled else ChangeKind.UPDATED


async def change(writer: Writer, *changes: PageChange) -> list[Saved]:
    """Write the differences of updates, at most one for each page.

    A new `last_compiled_at` alone does not count as a change.
    """
    for one in changes:
        one.after = replace(one.after, version=one.after.version + one.is_revised)
        if one.is_revised and (one.text is None or one.text.sections != one.after.sections):
            one.text = await read_sections(one.after.sections)
    calling = [one for one in changes if one.aliases or one.after.title != one.before.title]
    called = await read_in_thread(sum(sum(map(len, one.aliases)) for one in calling), names_by_page, calling)
    expected = known_states(writer, [one for one in changes if one.is_revised], called)
    await write_rows(writer, [one for one in changes if one.after != one.before])
    await write_texts(writer, [one for one in changes if one.is_rewritten])
    bases = await find_bases(writer, expected) if expected else {}
    await name(writer, changes, called)
    await write_revisions(writer, [one for one in changes if one.is_revised], expected, bases)
    await write_words(writer, changes)
    await connect(writer, changes)
    await restate(writer, [one for one in changes if one.is_restated])
    for one in changes:
        if one.is_named or one.after != one.before:
            writer.note_state(one.before, one.after)
            writer.changes.add(one.kind, one.after.id, one.after.version)
    return [saved_page(one) for one in changes]


def saved_page(one: PageChange) -> Saved:
    return Saved(one.after.id, one.after.version, changed=one.is_revised or one.is_named or one.is_restated)


async def write_rows(writer: Writer, changes: Sequence[PageChange]) -> None:
    """Write the rows of the pages. A new slug that was a former slug of the page is not a former slug any more."""
    if changes:
        rows = [content_row(one.after, one.after.body) | {"page_id": one.after.id} for one in changes]
        await writer.each(PAGES["update_page"], rows)
    if moved := [one.after for one in changes if one.after.slug != one.before.slug]:
        await writer.each(PAGES["reclaim_slug"], [{"type": page.type, "slug": page.slug} for page in moved])


async def write_texts(writer: Writer, changes: Sequence[PageChange]) -> None:
    """Write the changed sections and the targets of the links."""
    if not changes:
        return
    if gone := [(one.after.id, slug) for one in changes for slug in lost(one)]:
        await writer.later(SECTIONS["drop_sections"], page_ids=[id for id, _ in gone], slugs=[slug for _, slug in gone])
        refresh_hubness(writer, {id for id, _ in gone})
    await write_sections(writer, [(one.after.id, *placed) for one in changes for placed in different(one)])
    targets = {one.after.id: one.text.targets for one in changes if one.text}
    await refuse_private_links(writer, targets)
    await write_targets(writer, targets)


def lost(one: PageChange) -> list[str]:
    """Return the slugs of the sections that the page no longer has."""
    return sorted({section.slug for section in one.before.sections} - {section.slug for section in one.after.sections})


def different(one: PageChange) -> list[tuple[int, Section]]:
    """Return the sections that are new or changed, or that moved, with their positions."""
    before = dict(enumerate(one.before.sections))
    return [(place, section) for place, section in enumerate(one.after.sections) if before.get(place) != section]


async def name(writer: Writer, changes: Sequence[PageChange], called: Called) -> None:
    """Write the new aliases and former slugs of the pages, and set `names` and `is_named` of the updates."""
    before = [(one.after, one.before.slug) for one in changes if one.after.slug != one.before.slug]
    former = [(one.after, slug) for one in changes for slug in one.former_slugs]
    named = [
        one.after for one in changes if one.after.id in called or one.is_revised or one.is_renamed or one.former_slugs
    ]
    if not named:
        return
    names, new = await take_names(writer, named, alias_rows(called), [*before, *former])
    for one in changes:
        added = new.get(one.after.id, Names())
        one.is_named = bool(
            added.aliases or added.slugs & {former_address(one.after, slug)[1] for slug in one.former_slugs}
        )
    if concerned := [one for one in changes if one.is_revised or one.is_renamed]:
        for one in concerned:
            one.names = names[one.after.id]
            if one.is_named:
                check_number(one.names, "aliases", restored=one.alias_source == IMPORTED)
    if renamed := [(one.after, one.names) for one in concerned if one.is_renamed]:
        await write_names(writer, renamed)


def names_by_page(changes: Iterable[PageChange]) -> Called:
    return {
        one.after.id: {**aliases(one.aliases, one.alias_source), **aliases([one.after.title], "compiler")}
        for one in changes
    }


def known_states(writer: Writer, changes: Sequence[PageChange], called: Called) -> Known:
    """Return the pages with the aliases that they will have, if all names were read with the pages; else nothing."""
    if not all(one.after.id in writer.named for one in changes):
        return {}
    return {
        one.after.id: (one.after, known_names(writer, one.after).aliases | called.get(one.after.id, {}).keys())
        for one in changes
    }


async def write_revisions(
    writer: Writer, changes: Sequence[PageChange], expected: Known, bases: Mapping[UUID, Row]
) -> None:
    """Write the revisions of pages. `bases` are the base revisions for the pages and aliases in `expected`."""
    if not changes:
        return
    known = {one.after.id: (one.after, one.names.aliases) for one in changes}
    kept = await compact_rows(known, bases if known == expected else await find_bases(writer, known))
    rows = [revision_row(writer, one.after, one.edit_summary) | kept[one.after.id] for one in changes]
    await writer.each(INSERT_REVISION, rows)


async def write_words(writer: Writer, changes: Sequence[PageChange]) -> None:
    """Write the search rows of the changed pages."""
    rewritten = [one for one in changes if one.is_revised or one.is_named]
    if rewritten:
        found = (Findable(one.after, one.names, one.text.words if one.text else None) for one in rewritten)
        await write_search(writer, *found)
    await restate_search(writer, [one.after for one in changes if one.is_restated and one not in rewritten])


async def connect(writer: Writer, changes: Sequence[PageChange]) -> None:
    """Update the links that depend on the new texts and names of the pages."""
    texts = [one.after.id for one in changes if one.is_rewritten]
    names = everyone(one.names for one in changes if one.is_renamed)
    if texts or names.slugs:
        await resolve(writer, names, texts, changed=texts)


async def restate(writer: Writer, changes: Sequence[PageChange]) -> None:
    """Update what depends on the status of the pages: hubness scores, and the mark of merged pages.

    A merged page that is unarchived is independent of the other page again.
    """
    if back := [one.after.id for one in changes if one.after.status == "active"]:
        await writer.run(PAGES["mark_merged"], page_ids=back)
        await writer.later(PAGES["drop_merged"], page_ids=back)
    if changes:
        refresh_hubness(writer, await dependants(writer, *(one.after.id for one in changes)))


State = tuple[Page | None, Page, Sequence[str]]
"""A page before the write (None for a new page), the page after it, and aliases to add."""


EDITING = frozenset(
    {"append_cited", "append_to_page", "edit_page", "merge_many", "merge_pages", "move_section", "patch_section",
     "remove_section", "restore_state", "supersede_claim", "update_page", "upsert_page", "write_cited",
     "write_ingested", "write_knowledge"}
)  # fmt: skip
"""The operations by which a caller edits a page. Other operations only update links and names in its text."""


def check_recorded(writer: Writer, before: Page, after: Page) -> None:
    """Raise BadInput for an edit of the record of a decision, or of the mark that it is one."""
    operation = writer.scope.operation
    if operation is None or operation.name not in EDITING or not before.is_recorded:
        return
    if (before.title, before.summary, before.sections) != (after.title, after.summary, after.sections) or (
        not after.is_recorded
    ):
        raise BadInput(
            f"{before.name[0].upper()}{before.name[1:]} is a recorded decision, and is not edited. Record another "
            "decision that supersedes it.",
            "pageId",
        )


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
    """Create a page (`before` is None) or write its differences. A change of content makes a new version.

    A new `last_compiled_at` alone does not count as a change. `text` is the parsed new text, if the caller has it.
    """
    if before is None:
        text = text if text and text.sections == after.sections else await read_sections(after.sections)
        new = PageToInsert(after, text, aliases, alias_source, former_slugs, edit_summary)
        (created,) = await create(writer, new)
        return created
    check_recorded(writer, before, after)
    known = PageChange(before, after, aliases, alias_source, former_slugs, edit_summary, text)
    (changed,) = await change(writer, known)
    if known.has_new_texts:
        await ground(writer, [after.id])
    return changed


async def save_all(
    writer: Writer, states: Sequence[State], *, edit_summary: str | None = None, alias_source: str = "manual"
) -> list[Saved]:
    """Save many pages, each at most once, in a fixed number of statements.

    Unlike `save`, it neither updates the grounding nor protects recorded decisions.
    """
    new = [
        PageToInsert(after, await read_sections(after.sections), names, alias_source, edit_summary=edit_summary)
        for before, after, names in states
        if before is None
    ]
    known = [
        PageChange(before, after, names, alias_source, edit_summary=edit_summary)
        for before, after, names in states
        if before is not None
    ]
    made = [*(await create(writer, *new) if new else ()), *(await change(writer, *known) if known else ())]
    saved = {one.page_id: one for one in made}
    return [saved[after.id] for _, after, _ in states]
