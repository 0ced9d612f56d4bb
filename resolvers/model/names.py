"""The names of a page (slugs, title, aliases), by which search and links find it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from content import limits
from content.names import NoSlug, normalise, numbered_slug, slugify
from db.sql import statements

from ..errors import BadInput, SlugTaken
from ..permissions import check_sees
from ..transactions.writer import Writer
from .pages import Page, find_page

ALIASES = statements("pages/aliases")
SEARCH = statements("search/index")


@dataclass(frozen=True, slots=True)
class Names:
    """The names by which the target of a link can mean a page: current and former slugs, and normalised aliases."""

    slugs: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()

    def __or__(self, other: "Names") -> "Names":
        return Names(self.slugs | other.slugs, self.aliases | other.aliases)


async def find_names(writer: Writer, *pages: Page) -> dict[UUID, Names]:
    """Return the aliases and the current and former slugs of the pages."""
    found: dict[tuple[UUID, str], set[str]] = defaultdict(set)
    for row in await writer.all(ALIASES["find_names"], page_ids=[page.id for page in pages]):
        found[row["page_id"], row["kind"]].add(row["name"])
    return {
        page.id: Names(frozenset(found[page.id, "old_slug"] | {page.slug}), frozenset(found[page.id, "alias"]))
        for page in pages
    }


def former_address(page: Page, former: str) -> tuple[str, str]:
    """Return the type and slug of a former slug: `topic/austin`, or `austin`, which has the page's current type."""
    type, _, slug = former.rpartition("/")
    return type or page.type, slug


async def claim_names(
    writer: Writer, pages: Sequence[Page], aliases: dict[str, list[Any]], slugs: Sequence[tuple[Page, str]]
) -> tuple[dict[UUID, Names], dict[UUID, Names]]:
    """Give pages aliases, and former slugs unless another page has or had them.

    Return all names of the pages, and the names that are new.
    """
    if not slugs and not aliases["ids"] and all(page.id in writer.read_names for page in pages):
        return {page.id: known_names(writer, page) for page in pages}, {}
    rows = await writer.all(
        ALIASES["claim_names"],
        every_id=[page.id for page in pages],
        types=[former_address(page, slug)[0] for page, slug in slugs],
        slugs=[former_address(page, slug)[1] for page, slug in slugs],
        slug_ids=[page.id for page, _ in slugs],
        **aliases,
    )
    names = {page.id: Names(frozenset({page.slug})) for page in pages}
    new: dict[UUID, Names] = defaultdict(Names)
    for row in rows:
        name = frozenset({row["name"]})
        added = Names(aliases=name) if row["kind"] == "alias" else Names(slugs=name)
        names[row["page_id"]] |= added
        if row["is_new"]:
            new[row["page_id"]] |= added
    return names, new


def known_names(writer: Writer, page: Page) -> Names:
    """Return the names that were read with the page. Raises KeyError if they were written since."""
    aliases, old_slugs = writer.read_names[page.id]
    return Names(old_slugs | {page.slug}, aliases)


async def rewrite_names(writer: Writer, page: Page) -> Names:
    """Rewrite the page's rows of searchable names from its title, aliases and slugs, and return its names."""
    names = (await find_names(writer, page))[page.id]
    await write_names(writer, [(page, names)])
    return names


async def write_names(writer: Writer, named: Sequence[tuple[Page, Names]]) -> None:
    """Replace the rows of searchable names of pages."""
    rows = rows_of(named)
    page_ids, kinds, names = rows["page_ids"], rows["kinds"], rows["names"]
    await writer.later(SEARCH["drop_names"], page_ids=page_ids, kinds=kinds, names=names)
    await writer.later(SEARCH["write_names"], **rows)


async def add_names(writer: Writer, new: Sequence[tuple[Page, Names]]) -> None:
    """Add the rows of searchable names of new pages."""
    await writer.later(SEARCH["add_names"], **rows_of(new))


def rows_of(named: Sequence[tuple[Page, Names]]) -> dict[str, Any]:
    rows = [
        (page, *row)
        for page, names in named
        for row in sorted(searchable_names(page, names.aliases, names.slugs - {page.slug}))
    ]
    return {
        "page_ids": [page.id for page, *_ in rows],
        "kinds": [kind for _, kind, _ in rows],
        "names": [name for *_, name in rows],
        "statuses": [page.status for page, *_ in rows],
    }


def join_names(several: Iterable[Names]) -> Names:
    """Return the union of several sets of names."""
    names = list(several)
    return Names(
        frozenset().union(*(each.slugs for each in names)), frozenset().union(*(each.aliases for each in names))
    )


def check_alias_count(names: Names, field: str, *, restored: bool = False) -> None:
    """Raise BadInput if there are more aliases than a page can have."""
    max_aliases = limits.ALIASES.limit(restored=restored)
    if len(names.aliases) > max_aliases:
        raise BadInput(f"A page can have at most {max_aliases:,} names. Remove some first.", field)


def searchable_names(page: Page, aliases: Iterable[str], old_slugs: Iterable[str]) -> set[tuple[str, str]]:
    """Return the searchable names of a page as (kind, name), each name once with its best kind.

    A slug is searchable with spaces instead of hyphens, too, as people type it.
    """
    slugs = [("slug", page.slug), *(("old_slug", slug) for slug in old_slugs)]
    spaced = [(kind, slug.replace("-", " ")) for kind, slug in slugs]
    names = [("title", normalise(page.title)), *(("alias", alias) for alias in sorted(aliases)), *slugs, *spaced]
    best = {name: kind for kind, name in reversed(names) if name}
    return {(kind, name) for name, kind in best.items()}


PAGES = statements("pages/pages")


def title_slug(title: str) -> str:
    """Return the slug of a title. Raises BadInput if the title has no letters or digits for one."""
    try:
        return slugify(title)
    except NoSlug as error:
        raise BadInput(str(error), "title") from None


async def find_slug(writer: Writer, page_type: str, slug: str) -> Page | None:
    """Return the page of this type that has or had the slug, or None. Raises NotFound or Forbidden if it is hidden."""
    page_id = await writer.value(PAGES["find_by_slug"], type=page_type, slug=slug)
    if page_id is None:
        return None
    await check_sees(writer, writer.scope, [page_id], f'The slug "{slug}" is taken.')
    return await find_page(writer, page_id)


async def free_slug(writer: Writer, page_type: str, slug: str) -> str:
    """Return the slug, or the slug with the first number that makes it free: `austin-2`."""
    start, size = 1, 8
    while True:
        wanted = [slug if n == 1 else numbered_slug(slug, n) for n in range(start, start + size)]
        row = await writer.one(PAGES["find_taken_slugs"], type=page_type, slugs=wanted)
        assert row is not None
        writer.note_editions(row)
        if free := next((candidate for candidate in wanted if candidate not in row["taken"]), None):
            return free
        start, size = start + size, size * 4


async def check_free(writer: Writer, page_type: str, slug: str, but: Page | None = None) -> None:
    """Raise SlugTaken if a page other than `but` has or had the slug."""
    page = await find_slug(writer, page_type, slug)
    if page and not (but and page.id == but.id):
        raise SlugTaken(f'The slug "{slug}" belongs to {page.name} already.', "slug")
