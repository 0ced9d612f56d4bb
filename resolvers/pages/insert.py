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
from lib.threads import offload

from ..errors import BadInput
from ..links.targets import add_targets, refuse_private_links, resolve
from ..model import outline
from ..model.names import Names, add_names, check_alias_count, former_address, join_names
from ..model.outline import Outline
from ..model.pages import Page, Saved
from ..search.index import SearchEntry, index_pages, searchable
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
    text = await offload(len(body), lambda: text_of(outline.from_body(body, restored=restored)))
    check_links(text.targets, LINKS.limit(restored=restored))
    return text


async def read_sections(sections: Outline) -> PageText:
    """Render and parse the text of a page from a valid outline."""
    await asyncio.sleep(0)  # lets other tasks run, because callers read many pages in a row
    return await offload(outline.size(sections), text_of, sections)


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
    """Return the slugs of the sections that link to each target, at most MAX_LINKING_SECTIONS each.

    A link belongs to the section within whose rendered text it starts.
    """
    places = dict[str, dict[str, None]]()
    left = list(reversed(links))
    end = 0
    for section in sections:
        text = render((section,))
        end += len(text) + (len(SECTION_SEPARATOR) if text else 0)
        while left and left[-1].start < end:
            places.setdefault(left.pop().target, {})[section.slug] = None
    return {target: tuple(slugs)[:MAX_LINKING_SECTIONS] for target, slugs in places.items()}


def check_links(targets: Collection[object], max_links: int) -> None:
    if len(targets) > max_links:
        raise BadInput(f"A page can link to {max_links:,} different targets, not to {len(targets):,}.", "bodyMd")


PAGES = statements("pages/pages")
SECTIONS = statements("pages/sections")
ALIASES = statements("pages/aliases")
SECTION_SEPARATOR = "\n\n"
MAX_LINKING_SECTIONS = 20  # sections of a page that are stored for one target
IMPORT_SOURCE = "import"  # the source of aliases from imported files
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


async def create(writer: Writer, *inserts: PageToInsert, later: bool = False) -> list[Saved]:
    """Insert pages. With `later`, the caller inserts more pages and then calls `count_words` for all of them."""
    inserts = tuple(replace(new, page=replace(new.page, version=new.version)) for new in inserts)
    new_pages = [new.page for new in inserts]
    await writer.each(INSERT_PAGE, [page_row(writer, new) for new in inserts])
    await write_sections(writer, [(page.id, *placed) for page in new_pages for placed in enumerate(page.sections)])
    names = await write_page_names(writer, inserts)
    await writer.each(INSERT_REVISION, [first_revision(writer, new, names[new.page.id]) for new in inserts])
    targets = {new.page.id: new.text.targets for new in inserts}
    if not later:
        await refuse_private_links(writer, targets)
    await add_targets(writer, targets)
    found = (SearchEntry(new.page, names[new.page.id], new.text.words) for new in inserts)
    await index_pages(writer, *found, later=later)
    await resolve(writer, join_names(names.values()), [page.id for page in new_pages])
    for page in new_pages:
        writer.note_state(None, page)
        writer.changes.add(ChangeKind.CREATED, page.id, page.version)
    return [Saved(page.id, page.version, created=True) for page in new_pages]


# -- rows


def page_row(writer: Writer, new: PageToInsert) -> dict[str, Any]:
    moments = {"created_at": writer.now, "updated_at": writer.now}
    return {"id": new.page.id, "type": new.page.type, **content_row(new.page, new.text.body), **moments}


def first_revision(writer: Writer, new: PageToInsert, names: Names) -> dict[str, Any]:
    return revision_row(writer, new.page, new.edit_summary) | full_columns(new.page, new.text.body, names.aliases)


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


async def write_page_names(writer: Writer, inserts: Sequence[PageToInsert]) -> dict[UUID, Names]:
    """Write the aliases and former slugs of new pages, and return all their names.

    A former slug that another page has or had is left out.
    """
    new_aliases = await offload(sum(sum(map(len, new.aliases)) for new in inserts), aliases_of, inserts)
    await writer.later(ALIASES["write_aliases"], **alias_rows(new_aliases))
    kept = await keep_slugs(writer, [(new.page, slug) for new in inserts for slug in new.former_slugs])
    names = {
        new.page.id: Names(
            frozenset({new.page.slug, *(slug for page_id, slug in kept if page_id == new.page.id)}),
            frozenset(new_aliases[new.page.id]),
        )
        for new in inserts
    }
    for new in inserts:
        check_alias_count(names[new.page.id], "aliases", restored=new.alias_source == IMPORT_SOURCE)
    await add_names(writer, [(new.page, names[new.page.id]) for new in inserts])
    return names


AliasesByPage = dict[UUID, dict[str, tuple[str, str]]]
"""The aliases to write by page id and normalised alias: the name as it was written, and its source."""


def aliases_of(inserts: Iterable[PageToInsert]) -> AliasesByPage:
    return {
        new.page.id: {**aliases(new.aliases, new.alias_source), **aliases([new.page.title], "compiler")}
        for new in inserts
    }


def aliases(names: Sequence[str], source: str) -> dict[str, tuple[str, str]]:
    """Return the names by normalised alias. Of several names with the same alias, the first one counts."""
    return {alias: (name, source) for name in reversed(names) if (alias := normalise(name))}


async def write_aliases(writer: Writer, new_aliases: AliasesByPage) -> set[UUID]:
    """Write the aliases. Return the pages that got a new alias."""
    added = await writer.all(ALIASES["write_aliases"], **alias_rows(new_aliases))
    return {row["page_id"] for row in added}


def alias_rows(new_aliases: AliasesByPage) -> dict[str, list[Any]]:
    rows = [
        (page_id, alias, name, source)
        for page_id, page_aliases in new_aliases.items()
        for alias, (name, source) in page_aliases.items()
    ]
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
