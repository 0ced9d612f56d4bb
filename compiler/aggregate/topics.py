"""Finding the existing topic with a title, or making a new one."""

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


class TopicChange(NamedTuple):
    """A topic to be stored."""

    before: Page | None
    """The stored topic; None for a new one."""
    page: Page
    promotes: tuple[str, ...]
    """The mention that becomes the topic, if there is one."""


async def find_or_make_topics(writer: Writer, titles: Collection[str]) -> dict[str, TopicChange]:
    """Return the topics with these titles by title.

    A title is left out if it makes no slug, if an active page other than the topic with this title has the name, or if
    its mention was ignored. An archived topic with the slug of a title becomes active again.
    """
    named = {alias: title for title in titles if (alias := normalise(title)) and has_slug(title)}
    if not named:
        return {}
    cards = [card for card in await find_cards(writer, aliases=named) if not card.is_archived]
    held = await find_mentions(writer, named)
    free = {alias: title for alias, title in named.items() if is_free(alias, cards, held.get(alias))}
    existing = await find_existing(writer, free, cards)
    topics = {}
    for alias, title in free.items():
        before = existing.get(alias)
        page = replace(before, status="active") if before else Page(new_id(), "topic", slugify(title), title)
        is_held = alias in held and held[alias].status == "open"
        topics[title] = TopicChange(before, page, (alias,) if is_held else ())
    return topics


def is_free(alias: str, cards: Collection[PageCard], held: MentionCard | None) -> bool:
    """Return whether a topic may have the name: no other page has it, and its mention was not ignored."""
    others = [card for card in cards if alias in card.aliases and not is_topic_of(card, alias)]
    return not (held and held.status == "ignored") and not others


def is_topic_of(card: PageCard, alias: str) -> bool:
    return card.type == "topic" and normalise(card.title) == alias


async def find_existing(writer: Writer, titles: Mapping[str, str], cards: Collection[PageCard]) -> dict[str, Page]:
    """Return the existing topic for each title, by normalised name: the active one with it, or any with its slug."""
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
