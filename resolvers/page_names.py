"""Every name that a page answers to: for search, and for the links in texts that mean it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from content.names import normalise
from db.sql import statements

from .errors import BadInput
from .records import Page
from .writer import Writer

ALIASES = statements("aliases")
SEARCH = statements("search_index")
ALIASES_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Names:
    """What the target of a link may say: slugs as they are, aliases normalised."""

    slugs: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()

    def __or__(self, other: "Names") -> "Names":
        return Names(self.slugs | other.slugs, self.aliases | other.aliases)


async def find_names(writer: Writer, *pages: Page) -> dict[UUID, Names]:
    """What they answer to besides their titles: their aliases, their slugs and those that they had."""
    found: dict[tuple[UUID, str], set[str]] = defaultdict(set)
    for row in await writer.all(ALIASES["find_names"], page_ids=[page.id for page in pages]):
        found[row["page_id"], row["kind"]].add(row["name"])
    return {
        page.id: Names(frozenset(found[page.id, "old_slug"] | {page.slug}), frozenset(found[page.id, "alias"]))
        for page in pages
    }


async def renew_names(writer: Writer, page: Page) -> Names:
    """Bring the rows that search reads in step with the page, its aliases and its old slugs."""
    names = (await find_names(writer, page))[page.id]
    await write_names(writer, [(page, names)])
    return names


async def write_names(writer: Writer, named: Sequence[tuple[Page, Names]]) -> None:
    """The rows that search reads, of pages that may have others."""
    await writer.run(SEARCH["write_names"], **rows_of(named))


async def add_names(writer: Writer, new: Sequence[tuple[Page, Names]]) -> None:
    """The rows that search reads, of pages that have none yet."""
    await writer.run(SEARCH["add_names"], **rows_of(new))


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
    """All that any of them answers to."""
    names = list(several)
    return Names(frozenset().union(*(one.slugs for one in names)), frozenset().union(*(one.aliases for one in names)))


def check_number(names: Names, field: str) -> None:
    """Refuse more aliases than a page can have."""
    if len(names.aliases) > ALIASES_MAX:
        raise BadInput(f"A page can answer to {ALIASES_MAX:,} names. Take some from it first.", field)


def searchable_names(page: Page, aliases: Iterable[str], old_slugs: Iterable[str]) -> set[tuple[str, str]]:
    """(kind, name) of each: a slug also with its words apart, as people type it. Each name once."""
    slugs = [("slug", page.slug), *(("old_slug", slug) for slug in old_slugs)]
    spaced = [(kind, slug.replace("-", " ")) for kind, slug in slugs]
    names = [("title", normalise(page.title)), *(("alias", alias) for alias in sorted(aliases)), *slugs, *spaced]
    best = {name: kind for kind, name in reversed(names) if name}
    return {(kind, name) for name, kind in best.items()}
