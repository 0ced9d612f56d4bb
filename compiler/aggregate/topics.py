"""The topic of a title, for what should have a page of its own: one that is there, or a new one."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from content.names import NoSlug, normalise, slugify
from db.ids import new_id
from resolvers import validation
from resolvers.errors import BadInput
from resolvers.model.pages import Page, find_pages
from resolvers.transactions.writer import Writer

from ..planner import MentionCard, PageCard
from ..read.stored import COMPILING, find_cards, find_mentions


class Claim(NamedTuple):
    """The topic before, if there is one, and as it will stand; `promotes` is the mention that it is made of."""

    before: Page | None
    page: Page
    promotes: tuple[str, ...]


async def claim(writer: Writer, titles: Collection[str]) -> dict[str, Claim]:
    """Return by title the topic that may have it.

    None where a page of another type has the name, or somebody ignored it. An archived topic of that slug comes back.
    """
    named = {alias: title for title in titles if (alias := normalise(title)) and has_slug(title)}
    if not named:
        return {}
    cards = [card for card in await find_cards(writer, aliases=named) if not card.is_archived]
    held = await find_mentions(writer, named)
    free = {alias: title for alias, title in named.items() if is_free(alias, cards, held.get(alias))}
    standing = await find_standing(writer, free, cards)
    claims = {}
    for alias, title in free.items():
        before = standing.get(alias)
        page = replace(before, status="active") if before else Page(new_id(), "topic", slugify(title), title)
        is_held = alias in held and held[alias].status == "open"
        claims[title] = Claim(before, page, (alias,) if is_held else ())
    return claims


def is_free(alias: str, cards: Collection[PageCard], held: MentionCard | None) -> bool:
    """Return whether a topic may have the name: no other page has it, and nobody has ignored it."""
    others = [card for card in cards if alias in card.aliases and not is_topic_of(card, alias)]
    return not (held and held.status == "ignored") and not others


def is_topic_of(card: PageCard, alias: str) -> bool:
    return card.type == "topic" and normalise(card.title) == alias


async def find_standing(writer: Writer, titles: Mapping[str, str], cards: Collection[PageCard]) -> dict[str, Page]:
    """Find by alias the active topic of that title, or whichever has its slug."""
    slugs = {alias: slugify(title) for alias, title in titles.items()}
    rows = await writer.all(COMPILING["find_by_slugs"], types=["topic" for _ in slugs], slugs=list(slugs.values()))
    by_slug: dict[str, UUID] = {row["slug"]: row["id"] for row in rows}
    ids = {alias: by_slug[slug] for alias, slug in slugs.items() if slug in by_slug}
    ids |= {alias: card.id for card in cards for alias in titles if is_topic_of(card, alias)}
    pages = await find_pages(writer, set(ids.values()))
    return {alias: pages[page_id] for alias, page_id in ids.items()}


def has_slug(title: str) -> bool:
    try:
        return bool(slugify(validation.title(title)))
    except (NoSlug, BadInput):
        return False
