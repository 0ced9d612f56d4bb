"""Every name that a page answers to: for search, and for the links in texts that mean it."""

from collections.abc import Iterable
from dataclasses import dataclass

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


async def write_names(writer: Writer, page: Page) -> Names:
    """Bring the rows that search reads in step with the page, its aliases and its old slugs."""
    rows = [(row["kind"], row["name"]) for row in await writer.all(ALIASES["find_names"], page_id=page.id)]
    old_slugs = {name for kind, name in rows if kind == "old_slug"}
    aliases = {name for kind, name in rows if kind == "alias"}
    names = sorted(searchable_names(page, aliases, old_slugs))
    await writer.run(
        SEARCH["write_names"],
        page_id=page.id,
        kinds=[kind for kind, _ in names],
        names=[name for _, name in names],
        status=page.status,
    )
    return Names(frozenset(old_slugs | {page.slug}), frozenset(aliases))


def check_number(names: Names, field: str) -> None:
    """Refuse more aliases than a page can have."""
    if len(names.aliases) > ALIASES_MAX:
        raise BadInput(f"A page can answer to {ALIASES_MAX:,} names. Take some from it first.", field)


def searchable_names(page: Page, aliases: Iterable[str], old_slugs: Iterable[str]) -> set[tuple[str, str]]:
    """(kind, name) of each: a slug also with its words apart, as people type it."""
    slugs = [("slug", page.slug), *(("old_slug", slug) for slug in old_slugs)]
    spaced = [(kind, slug.replace("-", " ")) for kind, slug in slugs]
    names = [("title", normalise(page.title)), *(("alias", alias) for alias in aliases), *slugs, *spaced]
    return {(kind, name) for kind, name in names if name}
