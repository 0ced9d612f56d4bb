"""Update existing pages with their sections, names, links, search rows and revisions.

Any number of pages takes a fixed number of statements.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from content.markdown.sections import Section
from content.sensitivity import LEVELS, level_of
from db.connection import Row
from db.sql import statements
from lib.threads import offload

from ..errors import BadInput
from ..links.references import find_hubness_dependents, refresh_hubness
from ..links.targets import refuse_private_links, resolve, write_targets
from ..model.names import Names, check_alias_count, claim_names, former_address, join_names, known_names, write_names
from ..model.pages import Page, Saved
from ..proposals.gate import levels_of
from ..search.index import SearchEntry, index_pages, update_search_status
from ..sources.grounding import ground
from ..subscriptions.changes import ChangeKind
from ..transactions.writer import Writer
from .insert import (
    IMPORT_SOURCE,
    INSERT_REVISION,
    AliasesByPage,
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
from .revision_store import NamedPages, compact_rows, find_bases

PAGES = statements("pages/pages")
SECTIONS = statements("pages/sections")


@dataclass(slots=True)
class PageUpdate:
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
    """Whether the page has got a new alias, or one of the given `former_slugs`."""

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


async def apply_updates(writer: Writer, *updates: PageUpdate) -> list[Saved]:
    """Write the differences of updates, at most one for each page.

    A new `last_compiled_at` alone does not count as a change.
    """
    for update in updates:
        update.after = replace(update.after, version=update.after.version + update.is_revised)
        if update.is_revised and (update.text is None or update.text.sections != update.after.sections):
            update.text = await read_sections(update.after.sections)
    naming = [update for update in updates if update.aliases or update.after.title != update.before.title]
    new_aliases = await offload(sum(sum(map(len, update.aliases)) for update in naming), names_by_page, naming)
    expected = known_states(writer, [update for update in updates if update.is_revised], new_aliases)
    await write_rows(writer, [update for update in updates if update.after != update.before])
    await write_texts(writer, [update for update in updates if update.is_rewritten])
    bases = await find_bases(writer, expected) if expected else {}
    await update_names(writer, updates, new_aliases)
    await write_revisions(writer, [update for update in updates if update.is_revised], expected, bases)
    await write_words(writer, updates)
    await update_links(writer, updates)
    await update_statuses(writer, [update for update in updates if update.is_restated])
    for update in updates:
        if update.is_named or update.after != update.before:
            writer.note_state(update.before, update.after)
            writer.changes.add(update.kind, update.after.id, update.after.version)
    return [saved_page(update) for update in updates]


def saved_page(update: PageUpdate) -> Saved:
    changed = update.is_revised or update.is_named or update.is_restated
    return Saved(update.after.id, update.after.version, changed=changed)


async def write_rows(writer: Writer, updates: Sequence[PageUpdate]) -> None:
    """Write the rows of the pages.

    A new slug that was a former slug of the page is not a former slug any more. Callers who may not read a page any
    more see it as deleted in the change feed.
    """
    if updates:
        rows = [content_row(update.after, update.after.body) | {"page_id": update.after.id} for update in updates]
        await writer.each(PAGES["update_page"], rows)
    if moved := [update.after for update in updates if update.after.slug != update.before.slug]:
        await writer.each(PAGES["reclaim_slug"], [{"type": page.type, "slug": page.slug} for page in moved])
    levels = {
        update.after.id: [level_of(page.metadata) for page in (update.before, update.after)] for update in updates
    }
    if lowest := {page_id: min(both, key=LEVELS.index) for page_id, both in levels.items() if len({*both}) == 2}:
        await writer.run(PAGES["keep_sensitivity"], page_ids=[*lowest], levels=[*lowest.values()])


async def write_texts(writer: Writer, updates: Sequence[PageUpdate]) -> None:
    """Write the changed sections and the targets of the links."""
    if not updates:
        return
    if gone := [(update.after.id, slug) for update in updates for slug in removed_sections(update)]:
        await writer.later(SECTIONS["drop_sections"], page_ids=[id for id, _ in gone], slugs=[slug for _, slug in gone])
        refresh_hubness(writer, {id for id, _ in gone})
    await write_sections(
        writer, [(update.after.id, *placed) for update in updates for placed in changed_sections(update)]
    )
    targets = {update.after.id: update.text.targets for update in updates if update.text}
    await refuse_private_links(writer, targets)
    await write_targets(writer, targets)


def removed_sections(update: PageUpdate) -> list[str]:
    """Return the slugs of the sections that the page no longer has."""
    before, after = ({section.slug for section in page.sections} for page in (update.before, update.after))
    return sorted(before - after)


def changed_sections(update: PageUpdate) -> list[tuple[int, Section]]:
    """Return the sections that are new or changed, or that moved, with their positions."""
    before = dict(enumerate(update.before.sections))
    return [(place, section) for place, section in enumerate(update.after.sections) if before.get(place) != section]


async def update_names(writer: Writer, updates: Sequence[PageUpdate], new_aliases: AliasesByPage) -> None:
    """Write the new aliases and former slugs of the pages, and set `names` and `is_named` of the updates."""
    before = [(update.after, update.before.slug) for update in updates if update.after.slug != update.before.slug]
    former = [(update.after, slug) for update in updates for slug in update.former_slugs]
    named = [
        update.after
        for update in updates
        if update.after.id in new_aliases or update.is_revised or update.is_renamed or update.former_slugs
    ]
    if not named:
        return
    names, new = await claim_names(writer, named, alias_rows(new_aliases), [*before, *former])
    for update in updates:
        added = new.get(update.after.id, Names())
        update.is_named = bool(
            added.aliases or added.slugs & {former_address(update.after, slug)[1] for slug in update.former_slugs}
        )
    if concerned := [update for update in updates if update.is_revised or update.is_renamed]:
        for update in concerned:
            update.names = names[update.after.id]
            if update.is_named:
                check_alias_count(update.names, "aliases", restored=update.alias_source == IMPORT_SOURCE)
    if renamed := [(update.after, update.names) for update in concerned if update.is_renamed]:
        await write_names(writer, renamed)


def names_by_page(updates: Iterable[PageUpdate]) -> AliasesByPage:
    return {
        update.after.id: {**aliases(update.aliases, update.alias_source), **aliases([update.after.title], "compiler")}
        for update in updates
    }


def known_states(writer: Writer, updates: Sequence[PageUpdate], new_aliases: AliasesByPage) -> NamedPages:
    """Return the pages with the aliases that they will have, if all names were read with the pages; else nothing."""
    if not all(update.after.id in writer.read_names for update in updates):
        return {}
    return {
        update.after.id: (
            update.after,
            known_names(writer, update.after).aliases | new_aliases.get(update.after.id, {}).keys(),
        )
        for update in updates
    }


async def write_revisions(
    writer: Writer, updates: Sequence[PageUpdate], expected: NamedPages, bases: Mapping[UUID, Row]
) -> None:
    """Write the revisions of pages. `bases` are the base revisions for the pages and aliases in `expected`."""
    if not updates:
        return
    known = {update.after.id: (update.after, update.names.aliases) for update in updates}
    kept = await compact_rows(known, bases if known == expected else await find_bases(writer, known))
    rows = [revision_row(writer, update.after, update.edit_summary) | kept[update.after.id] for update in updates]
    await writer.each(INSERT_REVISION, rows)


async def write_words(writer: Writer, updates: Sequence[PageUpdate]) -> None:
    """Write the search rows of the changed pages."""
    rewritten = [update for update in updates if update.is_revised or update.is_named]
    if rewritten:
        await index_pages(
            writer,
            *(
                SearchEntry(update.after, update.names, update.text.words if update.text else None)
                for update in rewritten
            ),
        )
    await update_search_status(
        writer, [update.after for update in updates if update.is_restated and update not in rewritten]
    )


async def update_links(writer: Writer, updates: Sequence[PageUpdate]) -> None:
    """Update the links that depend on the new texts and names of the pages."""
    texts = [update.after.id for update in updates if update.is_rewritten]
    names = join_names(update.names for update in updates if update.is_renamed)
    if texts or names.slugs:
        await resolve(writer, names, texts, changed=texts)


async def update_statuses(writer: Writer, updates: Sequence[PageUpdate]) -> None:
    """Update what depends on the status of the pages: hubness scores, and the mark of merged pages.

    A merged page that is unarchived is independent of the other page again.
    """
    if back := [update.after.id for update in updates if update.after.status == "active"]:
        await writer.run(PAGES["mark_merged"], page_ids=back)
        await writer.later(PAGES["drop_merged"], page_ids=back)
    if updates:
        refresh_hubness(writer, await find_hubness_dependents(writer, *(update.after.id for update in updates)))


StateChange = tuple[Page | None, Page, Sequence[str]]
"""A page before the write (None for a new page), the page after it, and aliases to add."""


EDITS = frozenset(
    {"append_cited", "append_to_page", "edit_page", "merge_many", "merge_pages", "move_section", "patch_section",
     "remove_section", "restore_state", "supersede_claim", "update_page", "upsert_page", "write_cited",
     "write_ingested", "write_knowledge"}
)  # fmt: skip
"""The operations by which a caller edits a page. Other operations only update links and names in its text."""


def check_recorded(writer: Writer, before: Page, after: Page) -> None:
    """Raise BadInput for an edit of the record of a decision, or of the mark that it is one."""
    operation = writer.scope.operation
    if operation is None or operation.name not in EDITS or not before.is_recorded:
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

    A new `last_compiled_at` alone does not count as a change. `text` is the parsed new text, if the caller has it. A
    change of sensitivity or status applies to the trajectory of the page, too.
    """
    if before is None:
        text = text if text and text.sections == after.sections else await read_sections(after.sections)
        new = PageToInsert(after, text, aliases, alias_source, former_slugs, edit_summary)
        (created,) = await create(writer, new)
        return created
    check_recorded(writer, before, after)
    known = PageUpdate(before, after, aliases, alias_source, former_slugs, edit_summary, text)
    (changed,) = await apply_updates(writer, known)
    if known.has_new_texts:
        await ground(writer, [after.id])
    if before.status != after.status or {*levels_of(before)} != {*levels_of(after)}:
        from .claims.trajectory import keep_trajectory  # here, because it saves the trajectory itself

        await keep_trajectory(writer, after, before.slug)
    return changed


async def save_all(
    writer: Writer, states: Sequence[StateChange], *, edit_summary: str | None = None, alias_source: str = "manual"
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
        PageUpdate(before, after, names, alias_source, edit_summary=edit_summary)
        for before, after, names in states
        if before is not None
    ]
    results = [*(await create(writer, *new) if new else ()), *(await apply_updates(writer, *known) if known else ())]
    saved = {result.page_id: result for result in results}
    return [saved[after.id] for _, after, _ in states]
