"""The page that a proposal for a new one means, if there is one already: what keeps a wiki from saying things twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from content.names import normalise
from content.slugs import slugify
from resolvers.transactions.writer import Writer

from .metrics import Metrics
from .planner import NewPage, PageCard
from .stored import COMPILING, find_cards


@dataclass(frozen=True, slots=True)
class Wanted:
    """A proposal by the names under which its page could be known, its title first."""

    page: NewPage
    slug: str
    aliases: tuple[str, ...]


def wanted(page: NewPage) -> Wanted:
    """Raises NoSlug for a title without letters."""
    aliases = dict.fromkeys(alias for name in (page.title, *page.aliases) if (alias := normalise(name)))
    return Wanted(page, slugify(page.title), tuple(aliases))


async def match(reader: Writer, pages: Sequence[Wanted], metrics: Metrics) -> list[UUID | None]:
    """For each: the active page of its type that has one of its names, or its slug; or a name very like; or none.

    An archived page is matched by its slug alone. A page of another type is counted as a candidate and left alone.
    """
    if not pages:
        return []
    cards = await find_cards(reader, aliases={alias for page in pages for alias in page.aliases})
    slugs = await find_slugs(reader, pages)
    found = [exact(page, cards, metrics) or slugs.get((page.page.type, page.slug)) for page in pages]
    for _ in filter(None, found):
        metrics.add("alias_dedup_merged")
    open_ones = [n for n, page_id in enumerate(found) if page_id is None]
    alike = await find_alike(reader, [pages[n] for n in open_ones])
    for place, n in enumerate(open_ones):
        if page_id := alike.get(place):
            found[n] = page_id
            metrics.add("fuzzy_dedupe_merges")
    return found


def exact(page: Wanted, cards: Sequence[PageCard], metrics: Metrics) -> UUID | None:
    """The oldest active page of the type; a title that is the same comes before other names."""
    named = [card for card in cards if not card.is_archived and card.aliases.intersection(page.aliases)]
    own = [card for card in named if card.type == page.page.type]
    if not own and named:
        metrics.add("duplicate_candidates_count")
    own.sort(key=lambda card: page.aliases[0] not in card.aliases)
    return own[0].id if own else None


async def find_slugs(reader: Writer, pages: Sequence[Wanted]) -> Mapping[tuple[str, str], UUID]:
    rows = await reader.all(
        COMPILING["find_by_slugs"], types=[page.page.type for page in pages], slugs=[page.slug for page in pages]
    )
    return {(row["type"], row["slug"]): row["id"] for row in rows}


async def find_alike(reader: Writer, pages: Sequence[Wanted]) -> Mapping[int, UUID]:
    """By place in `pages`: the page whose name is likest, unless the words that differ hold a digit."""
    names = [(n, page.page.type, alias) for n, page in enumerate(pages) for alias in page.aliases]
    if not names:
        return {}
    rows = await reader.all(
        COMPILING["find_alike"], types=[type for _, type, _ in names], aliases=[alias for *_, alias in names]
    )
    found: dict[int, UUID] = {}
    for row in rows:
        if not differ_by_number(row["alias"], row["wanted"]):
            found.setdefault(names[row["n"] - 1][0], row["id"])
    return found


def differ_by_number(one: str, other: str) -> bool:
    """`pier 39` and `pier 38` are two things, however alike."""
    differing = set(one.split()) ^ set(other.split())
    return any(letter.isdigit() for word in differing for letter in word)
