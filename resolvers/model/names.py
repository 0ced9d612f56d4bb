"""Every name of a page: its slugs, its title and its aliases, as search and links find them."""

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
from .pages import Page, find_page, learn_editions

ALIASES = statements("pages/aliases")
SEARCH = statements("search/index")


@dataclass(frozen=True, slots=True)
class Names:
    """The names that the target of a link may say: slugs as they are, aliases normalised."""

    slugs: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()

    def __or__(self, other: "Names") -> "Names":
        return Names(self.slugs | other.slugs, self.aliases | other.aliases)


async def find_names(writer: Writer, *pages: Page) -> dict[UUID, Names]:
    """Return what the pages answer to besides their titles: their aliases, their slugs and those that they had."""
    found: dict[tuple[UUID, str], set[str]] = defaultdict(set)
    for row in await writer.all(ALIASES["find_names"], page_ids=[page.id for page in pages]):
        found[row["page_id"], row["kind"]].add(row["name"])
    return {
        page.id: Names(frozenset(found[page.id, "old_slug"] | {page.slug}), frozenset(found[page.id, "alias"]))
        for page in pages
    }


def former_address(page: Page, former: str) -> tuple[str, str]:
    """Return the type and the slug that a page once had: `topic/austin`, or `austin` of the type that it has now."""
    type, _, slug = former.rpartition("/")
    return type or page.type, slug


async def take_names(
    writer: Writer, pages: Sequence[Page], aliases: dict[str, list[Any]], slugs: Sequence[tuple[Page, str]]
) -> tuple[dict[UUID, Names], dict[UUID, Names]]:
    """Give pages aliases, and slugs that nobody has or had: all that they answer to now, and what of it is new."""
    if not slugs and not aliases["ids"] and all(page.id in writer.named for page in pages):
        return {page.id: known_names(writer, page) for page in pages}, {}
    rows = await writer.all(
        ALIASES["take_names"],
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
        one = Names(aliases=name) if row["kind"] == "alias" else Names(slugs=name)
        names[row["page_id"]] |= one
        if row["is_new"]:
            new[row["page_id"]] |= one
    return names, new


def known_names(writer: Writer, page: Page) -> Names:
    """Return the names that were read when the page was."""
    aliases, old_slugs = writer.named[page.id]
    return Names(old_slugs | {page.slug}, aliases)


async def renew_names(writer: Writer, page: Page) -> Names:
    """Bring the rows that search reads in step with the page, its aliases and its old slugs."""
    names = (await find_names(writer, page))[page.id]
    await write_names(writer, [(page, names)])
    return names


async def write_names(writer: Writer, named: Sequence[tuple[Page, Names]]) -> None:
    """Write the rows that search reads, of pages that may have others."""
    rows = rows_of(named)
    page_ids, kinds, names = rows["page_ids"], rows["kinds"], rows["names"]
    await writer.later(SEARCH["drop_names"], page_ids=page_ids, kinds=kinds, names=names)
    await writer.later(SEARCH["write_names"], **rows)


async def add_names(writer: Writer, new: Sequence[tuple[Page, Names]]) -> None:
    """Add the rows that search reads, of pages that have none yet."""
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


def everyone(several: Iterable[Names]) -> Names:
    """Return all names that any of them answers to."""
    names = list(several)
    return Names(frozenset().union(*(one.slugs for one in names)), frozenset().union(*(one.aliases for one in names)))


def check_number(names: Names, field: str, *, restored: bool = False) -> None:
    """Refuse more aliases than a page can have."""
    if len(names.aliases) > (most := limits.ALIASES.limit(restored=restored)):
        raise BadInput(f"A page can have at most {most:,} names. Remove some first.", field)


def searchable_names(page: Page, aliases: Iterable[str], old_slugs: Iterable[str]) -> set[tuple[str, str]]:
    """(kind, name) of each: a slug also with its words apart, as people type it. Each name once."""
    slugs = [("slug", page.slug), *(("old_slug", slug) for slug in old_slugs)]
    spaced = [(kind, slug.replace("-", " ")) for kind, slug in slugs]
    names = [("title", normalise(page.title)), *(("alias", alias) for alias in sorted(aliases)), *slugs, *spaced]
    best = {name: kind for kind, name in reversed(names) if name}
    return {(kind, name) for name, kind in best.items()}


PAGES = statements("pages/pages")


def title_slug(title: str) -> str:
    """The slug that a title asks for."""
    try:
        return slugify(title)
    except NoSlug as error:
        raise BadInput(str(error), "title") from None


async def find_slug(writer: Writer, page_type: str, slug: str) -> Page | None:
    """The page of a type that has the slug, or had it."""
    page_id = await writer.value(PAGES["find_by_slug"], type=page_type, slug=slug)
    if page_id is None:
        return None
    await check_sees(writer, writer.scope, [page_id], f'The slug "{slug}" is taken.')
    return await find_page(writer, page_id)


async def free_slug(writer: Writer, page_type: str, slug: str) -> str:
    """The slug, or the first number of it that is free."""
    start, size = 1, 8
    while True:
        wanted = [slug if n == 1 else numbered_slug(slug, n) for n in range(start, start + size)]
        row = await writer.one(PAGES["find_taken_slugs"], type=page_type, slugs=wanted)
        assert row is not None
        learn_editions(writer, row)
        if free := next((one for one in wanted if one not in row["taken"]), None):
            return free
        start, size = start + size, size * 4


async def check_free(writer: Writer, page_type: str, slug: str, but: Page | None = None) -> None:
    """Refuse a slug that another page has or had."""
    page = await find_slug(writer, page_type, slug)
    if page and not (but and page.id == but.id):
        raise SlugTaken(f'The slug "{slug}" belongs to {page.name} already.', "slug")
