"""Insert new pages with their sections, names, links, search rows and first revisions.

Any number of pages takes a fixed number of statements.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from content.limits import LINKS
from content.markdown.links import Target, find_links
from content.markdown.sections import Section, render
from content.names import normalise
from db.ids import new_id
from db.sql import inserting, statements
from db.tables import pages, revisions
from lib.threads import read_in_thread

from ..errors import BadInput
from ..links.targets import add_targets, refuse_private_links, resolve
from ..model import outline
from ..model.names import Names, add_names, check_number, everyone, former_address
from ..model.outline import Outline
from ..model.pages import Page, Saved
from ..search.index import Findable, searchable, write_search
from ..subscriptions.changes import ChangeKind
from ..transactions.writer import Writer
from .revision_store import full_columns


@dataclass(frozen=True, slots=True)
class PageText:
    """The parsed text of a page: sections, rendered body, link targets and searchable words."""

    sections: Outline
    body: str
    targets: tuple[Target, ...]
    """Each target once."""
    words: str


async def read_body(body: str, *, restored: bool = False) -> PageText:
    """Parse a body, from a caller or as it was stored. Raises BadInput."""
    text = await read_in_thread(len(body), lambda: text_of(outline.from_body(body, restored=restored)))
    check_links(text.targets, LINKS.limit(restored=restored))
    return text


async def read_sections(sections: Outline) -> PageText:
    """Render and parse the text of a page from a valid outline."""
    await asyncio.sleep(0)  # lets other tasks run, because callers read many pages in a row
    return await read_in_thread(outline.size(sections), text_of, sections)


def text_of(sections: Outline) -> PageText:
    body = render(sections)
    return PageText(sections, body, find_targets(body, sections), searchable(body))


def find_targets(body: str, sections: Outline) -> tuple[Target, ...]:
    """Return each target once, as it is first written in the body, with the slugs of the sections that link to it."""
    links = find_links(body)
    targets = {target.target: target for target in reversed(links)}
    check_links(targets, LINKS.stored)
    places = sections_of(links, sections) if links else {}
    return tuple(replace(target, sections=places[name]) for name, target in targets.items())


def sections_of(links: Sequence[Target], sections: Outline) -> dict[str, tuple[str, ...]]:
    """Return the slugs of the sections that link to each target, at most SECTIONS_MOST for a target.

    A link belongs to the section within whose rendered text it starts.
    """
    places = dict[str, dict[str, None]]()
    left = list(reversed(links))
    end = 0
    for section in sections:
        text = render((section,))
        end += len(text) + (len(BETWEEN) if text else 0)
        while left and left[-1].start < end:
            places.setdefault(left.pop().target, {})[section.slug] = None
    return {target: tuple(slugs)[:SECTIONS_MOST] for target, slugs in places.items()}


def check_links(targets: Collection[object], most: int) -> None:
    if len(targets) > most:
        raise BadInput(f"A page can link to {most:,} different targets, not to {len(targets):,}.", "bodyMd")


PAGES = statements("pages/pages")
SECTIONS = statements("pages/sections")
ALIASES = statements("pages/aliases")
BETWEEN = "\n\n"
SECTIONS_MOST = 20  # sections of a page that are stored for one target
IMPORTED = "import"  # the source of aliases from imported files
CONTENT = ("slug", "title", "summary", "body_md", "tags", "metadata", "status", "version", "last_compiled_at")
INSERT_PAGE = inserting(pages, "tenant_id", "owner_id", "id", "type", *CONTENT, "created_at", "updated_at")
INSERT_REVISION = inserting(
    revisions, "tenant_id", "owner_id", "id", "page_id", "version", "title", "summary", "body_md", "tags",
    "edit_summary", "author_kind", "author_id", "created_at", "base_version", "base_starts", "base_lengths",
    "base_texts", "slug", "metadata", "aliases", "facts_version",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageToInsert:
    """A page to insert, with its parsed text and its names besides the title."""

    page: Page
    text: PageText
    aliases: Sequence[str] = ()
    alias_source: str = "manual"
    former_slugs: Sequence[str] = ()
    edit_summary: str | None = None
    version: int = 1
    """The version of the page. It is above 1 for a page from another wiki, whose earlier versions are moved as well."""


async def create(writer: Writer, *new: PageToInsert, later: bool = False) -> list[Saved]:
    """Insert pages. With `later`, the caller inserts more pages and then calls `count_words` for all of them."""
    new = tuple(replace(one, page=replace(one.page, version=one.version)) for one in new)
    made = [one.page for one in new]
    await writer.each(INSERT_PAGE, [page_row(writer, one) for one in new])
    await write_sections(writer, [(page.id, *placed) for page in made for placed in enumerate(page.sections)])
    names = await name(writer, new)
    await writer.each(INSERT_REVISION, [first_revision(writer, one, names[one.page.id]) for one in new])
    targets = {one.page.id: one.text.targets for one in new}
    if not later:
        await refuse_private_links(writer, targets)
    await add_targets(writer, targets)
    found = (Findable(one.page, names[one.page.id], one.text.words) for one in new)
    await write_search(writer, *found, later=later)
    await resolve(writer, everyone(names.values()), [page.id for page in made])
    for page in made:
        writer.note_state(None, page)
        writer.changes.add(ChangeKind.CREATED, page.id, page.version)
    return [Saved(page.id, page.version, created=True) for page in made]


# -- rows


def page_row(writer: Writer, one: PageToInsert) -> dict[str, Any]:
    moments = {"created_at": writer.now, "updated_at": writer.now}
    return {"id": one.page.id, "type": one.page.type, **content_row(one.page, one.text.body), **moments}


def first_revision(writer: Writer, one: PageToInsert, names: Names) -> dict[str, Any]:
    return revision_row(writer, one.page, one.edit_summary) | full_columns(one.page, one.text.body, names.aliases)


def content_row(page: Page, body: str) -> dict[str, Any]:
    """Return the columns of a page that writes may change."""
    return {
        "slug": page.slug,
        "title": page.title,
        "summary": page.summary,
        "body_md": body,
        "tags": page.tags,
        "metadata": page.metadata or {},
        "status": page.status,
        "version": page.version,
        "last_compiled_at": page.last_compiled_at,
    }


def revision_row(writer: Writer, page: Page, edit_summary: str | None) -> dict[str, Any]:
    """Return the columns of a revision, except those that revision_store.py makes."""
    actor = writer.scope.actor
    return {
        "id": new_id(),
        "page_id": page.id,
        "version": page.version,
        "title": page.title,
        "summary": page.summary,
        "tags": page.tags,
        "edit_summary": edit_summary,
        "author_kind": actor.kind.value,
        "author_id": actor.id,
        "created_at": writer.now,
    }


async def write_sections(writer: Writer, found: Sequence[tuple[UUID, int, Section]]) -> None:
    """Insert or update sections, given as (page id, position, section)."""
    if found:
        await writer.later(
            SECTIONS["write_sections"],
            ids=[new_id() for _ in found],
            page_ids=[page_id for page_id, _, _ in found],
            positions=[place for _, place, _ in found],
            slugs=[section.slug for *_, section in found],
            headings=[section.heading for *_, section in found],
            bodies=[section.body for *_, section in found],
        )


# -- names


async def name(writer: Writer, new: Sequence[PageToInsert]) -> dict[UUID, Names]:
    """Write the aliases and former slugs of new pages, and return all their names.

    A former slug that another page has or had is left out.
    """
    called = await read_in_thread(sum(sum(map(len, one.aliases)) for one in new), aliases_of, new)
    await writer.later(ALIASES["write_aliases"], **alias_rows(called))
    kept = await keep_slugs(writer, [(one.page, slug) for one in new for slug in one.former_slugs])
    names = {
        one.page.id: Names(
            frozenset({one.page.slug, *(slug for page_id, slug in kept if page_id == one.page.id)}),
            frozenset(called[one.page.id]),
        )
        for one in new
    }
    for one in new:
        check_number(names[one.page.id], "aliases", restored=one.alias_source == IMPORTED)
    await add_names(writer, [(one.page, names[one.page.id]) for one in new])
    return names


Called = dict[UUID, dict[str, tuple[str, str]]]
"""The aliases to write by page id and normalised alias: the name as it was written, and its source."""


def aliases_of(new: Iterable[PageToInsert]) -> Called:
    return {
        one.page.id: {**aliases(one.aliases, one.alias_source), **aliases([one.page.title], "compiler")} for one in new
    }


def aliases(names: Sequence[str], source: str) -> dict[str, tuple[str, str]]:
    """Return the names by normalised alias. Of several names with the same alias, the first one counts."""
    return {alias: (name, source) for name in reversed(names) if (alias := normalise(name))}


async def write_aliases(writer: Writer, called: Called) -> set[UUID]:
    """Write the aliases. Return the pages that got a new alias."""
    added = await writer.all(ALIASES["write_aliases"], **alias_rows(called))
    return {row["page_id"] for row in added}


def alias_rows(called: Called) -> dict[str, list[Any]]:
    rows = [(page_id, alias, name, source) for page_id, own in called.items() for alias, (name, source) in own.items()]
    return {
        "ids": [new_id() for _ in rows],
        "page_ids": [row[0] for row in rows],
        "aliases": [row[1] for row in rows],
        "names": [row[2] for row in rows],
        "sources": [row[3] for row in rows],
    }


async def keep_slugs(writer: Writer, slugs: Sequence[tuple[Page, str]]) -> list[tuple[UUID, str]]:
    """Write former slugs of pages, except those that another page has or had. Return the ones that were written."""
    if not slugs:
        return []
    rows = await writer.all(
        PAGES["keep_slugs"],
        types=[former_address(page, slug)[0] for page, slug in slugs],
        slugs=[former_address(page, slug)[1] for page, slug in slugs],
        page_ids=[page.id for page, _ in slugs],
    )
    return [(row["page_id"], row["slug"]) for row in rows]
