"""Known pages brought to their next states with all that follows: any number, in a fixed number of statements."""

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
    """A page before and after, what it is to be called besides, and its text, if that was read already."""

    before: Page
    after: Page
    aliases: Sequence[str] = ()
    alias_source: str = "manual"
    former_slugs: Sequence[str] = ()
    edit_summary: str | None = None
    text: PageText | None = None
    names: Names = field(default_factory=Names, init=False)
    is_named: bool = field(default=False, init=False)
    """Whether it answers to more than before."""

    @property
    def is_revised(self) -> bool:
        """Return whether the content changed: that makes a version."""
        return self.before.content != self.after.content

    @property
    def is_rewritten(self) -> bool:
        return self.before.sections != self.after.sections

    @property
    def has_new_texts(self) -> bool:
        """Return whether a section says something else than before."""
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
        """Return whether its rows of names are not what they were."""
        return self.is_named or self.is_restated or self.is_retitled

    @property
    def kind(self) -> ChangeKind:
        """Return what became of the page, as those who follow it are told."""
        if self.is_restated:
            return ChangeKind.ARCHIVED if self.after.status == "archived" else ChangeKind.RESTORED
        return ChangeKind.RENAMED if self.is_retitled else ChangeKind.UPDATED


async def change(writer: Writer, *changes: PageChange) -> list[Saved]:
    """Write what differs. A compile stamp alone does not count as a change. Each page stands there once."""
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
    """Write the rows of the pages themselves. One takes up a slug that it had before."""
    if changes:
        rows = [content_row(one.after, one.after.body) | {"page_id": one.after.id} for one in changes]
        await writer.each(PAGES["update_page"], rows)
    if moved := [one.after for one in changes if one.after.slug != one.before.slug]:
        await writer.each(PAGES["reclaim_slug"], [{"type": page.type, "slug": page.slug} for page in moved])


async def write_texts(writer: Writer, changes: Sequence[PageChange]) -> None:
    """Write the sections that differ, and what the texts point at."""
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
    """Slugs of sections that the page no longer has."""
    return sorted({section.slug for section in one.before.sections} - {section.slug for section in one.after.sections})


def different(one: PageChange) -> list[tuple[int, Section]]:
    """(place, section) of each that is not as it was, where it was."""
    before = dict(enumerate(one.before.sections))
    return [(place, section) for place, section in enumerate(one.after.sections) if before.get(place) != section]


async def name(writer: Writer, changes: Sequence[PageChange], called: Called) -> None:
    """Let the pages answer to their titles, to the slugs that they had, and to what else they are called."""
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
    """Return what the pages will be and be called, if their names were read together with them; else nothing."""
    if not all(one.after.id in writer.named for one in changes):
        return {}
    return {
        one.after.id: (one.after, known_names(writer, one.after).aliases | called.get(one.after.id, {}).keys())
        for one in changes
    }


async def write_revisions(
    writer: Writer, changes: Sequence[PageChange], expected: Known, bases: Mapping[UUID, Row]
) -> None:
    """Write the states as they are now, for ever. `bases` are those that the expected ones rest on."""
    if not changes:
        return
    known = {one.after.id: (one.after, one.names.aliases) for one in changes}
    kept = await compact_rows(known, bases if known == expected else await find_bases(writer, known))
    rows = [revision_row(writer, one.after, one.edit_summary) | kept[one.after.id] for one in changes]
    await writer.each(INSERT_REVISION, rows)


async def write_words(writer: Writer, changes: Sequence[PageChange]) -> None:
    """Write what search can find of the changed pages."""
    said = [one for one in changes if one.is_revised or one.is_named]
    if said:
        found = (Findable(one.after, one.names, one.text.words if one.text else None) for one in said)
        await write_search(writer, *found)
    await restate_search(writer, [one.after for one in changes if one.is_restated and one not in said])


async def connect(writer: Writer, changes: Sequence[PageChange]) -> None:
    """Update the links that follow from what the texts say now, and from what the pages are called."""
    texts = [one.after.id for one in changes if one.is_rewritten]
    names = everyone(one.names for one in changes if one.is_renamed)
    if texts or names.slugs:
        await resolve(writer, names, texts, changed=texts)


async def restate(writer: Writer, changes: Sequence[PageChange]) -> None:
    """Update what depends on who is to be seen. A page that was merged into another is one of its own again."""
    if back := [one.after.id for one in changes if one.after.status == "active"]:
        await writer.run(PAGES["mark_merged"], page_ids=back)
        await writer.later(PAGES["drop_merged"], page_ids=back)
    if changes:
        refresh_hubness(writer, await dependants(writer, *(one.after.id for one in changes)))


State = tuple[Page | None, Page, Sequence[str]]
"""A page before, if it was there, and after, and other names for it."""


EDITING = frozenset(
    {"append_cited", "append_to_page", "edit_page", "merge_many", "merge_pages", "move_section", "patch_section",
     "remove_section", "restore_state", "supersede_claim", "update_page", "upsert_page", "write_cited",
     "write_ingested", "write_knowledge"}
)  # fmt: skip
"""The operations that change what a page says on purpose; others only bring links and names in it up to date."""


def check_recorded(writer: Writer, before: Page, after: Page) -> None:
    """Refuse to edit the record of a decision, or to take it off the record. Raises BadInput."""
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
    """Write what differs. A change of content makes a version; a compile stamp alone does not count as a change.

    `text` is what the page will say, if it was read already.
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
    """Save many pages as `save` does one, each once, in a fixed number of statements."""
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
