"""Mentions: names seen in sources that have no page yet."""

from typing import Any

from sqlalchemy import DateTime, Select, Text, Uuid, or_, select

from selection import in_tenant
from selection.declare.mapping import OuterRow

from ..tables import aliases, mentions, pages, sightings, sources
from .json_rows import json_rows
from .references import rows_by_id

by_ids = rows_by_id(mentions)


def promoted_page(mention: OuterRow, include_archived: bool = False) -> Select[Any]:
    page = pages.alias()
    query = select(page).where(page.c.id == mention.c.promoted_page_id)
    return query if include_archived else query.where(page.c.status == "active")


def listed(status: Any = None) -> Select[Any]:
    mention = mentions.alias()
    query = select(mention).order_by(mention.c.last_seen_at.desc(), mention.c.id.desc())
    return query if status is None else query.where(mention.c.status == status)


def of_page(page: OuterRow) -> Select[Any]:
    """Select the mentions that were promoted to this page, and those whose name is one of its aliases."""
    mention, alias = mentions.alias(), aliases.alias()
    outer = OuterRow(mention)
    named = in_tenant(select(alias.c.id).where(alias.c.page_id == page.c.id, alias.c.alias == outer.c.alias))
    return (
        select(mention)
        .where(mention.c.owner_id == page.c.owner_id, or_(mention.c.promoted_page_id == page.c.id, named.exists()))
        .order_by(mention.c.last_seen_at.desc(), mention.c.id.desc())
    )


def seen_sources(mention: OuterRow) -> Select[Any]:
    source, sighting = sources.alias(), sightings.alias()
    ids = select(sighting.c.source_id).where(sighting.c.mention_id == mention.c.id)
    query = select(source).where(source.c.id.in_(in_tenant(ids)))
    return query.order_by(source.c.captured_at.desc(), source.c.id.desc())


def contexts(mention: OuterRow) -> Select[Any]:
    """Select the quotes that are stored with a mention, the newest first."""
    return select(json_rows(mention.c.contexts, quote=Text(), sourceId=Uuid(), at=DateTime(timezone=True)))
