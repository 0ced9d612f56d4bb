"""Mentions: names that were seen in sources and have no page yet. Record their sightings, or ignore them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from content.limits import QUOTE
from content.names import normalise
from db.connection import Row
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import inserting, statements
from db.tables import PAGE_TYPES
from db.tables import mentions as mentions_table

from .. import validation
from ..errors import BadInput, NotFound
from ..transactions.transaction import writing, writing_row
from ..transactions.writer import Writer, record
from .compile_requests import request_sweep_for
from .held_names import MIN_SOURCES
from .sources import find_source

MENTIONS = statements("links/mentions")
INSERT = inserting(mentions_table, "tenant_id", "owner_id", "id", "name", "alias", "first_seen_at", "last_seen_at")
CONTEXTS_MAX = 5
NO_MENTION = "There is no such mention, or none that you may see."


@dataclass(frozen=True, slots=True)
class SavedMention:
    """A mention after a write. `count` is how many sources contain the name."""

    mention_id: UUID
    status: str
    count: int
    changed: bool = True


async def record_mention(
    database: Database,
    scope: Scope,
    *,
    name: str,
    source_id: UUID,
    quote: str | None = None,
    suggested_type: str | None = None,
) -> SavedMention:
    """Record that a source contains a name. A source counts once, with all of its versions."""
    name = validation.alias(name)
    quote = validation.optional(quote, "quote", QUOTE.maximum)
    if suggested_type is not None:
        validation.one_of(suggested_type, PAGE_TYPES, "suggestedType")
    async with writing(database, scope) as writer:
        source = await find_source(writer, source_id)
        sighted = await record_sighting(writer, name, source, quote, suggested_type)
        if sighted.changed:
            await record(writer, "mention.recorded", mentionId=sighted.mention_id, sourceId=source_id)
        if sighted.changed and sighted.count >= MIN_SOURCES and sighted.status == "open":
            await request_sweep_for(writer, sighted.mention_id)
        return sighted


async def record_sighting(
    writer: Writer, name: str, source: Row, quote: str | None, suggested_type: str | None
) -> SavedMention:
    """Count a source for the mention of a name, and store its quote."""
    mention = await find_or_create_mention(writer, name, source["captured_at"])
    seen = await add_sighting(writer, mention, source)
    if seen is None:
        return SavedMention(mention["id"], mention["status"], mention["mention_count"], changed=False)
    added = seen["former_id"] is None
    await writer.run(
        MENTIONS["add_to_count"],
        mention_id=mention["id"],
        added=int(added),
        seen_at=source["captured_at"],
        contexts=add_quote(mention["contexts"], quote, source, seen["former_id"]),
        suggested_type=suggested_type or mention["suggested_type"],
    )
    return SavedMention(mention["id"], mention["status"], mention["mention_count"] + added)


async def add_sighting(writer: Writer, mention: Row, source: Row) -> Row | None:
    """Write the sighting of a source. Return None if this version or a newer one is stored already.

    The row's `former_id` is the older version of the source that the new sighting replaces, if there is one.
    """
    return await writer.one(
        MENTIONS["write_sighting"],
        mention_id=mention["id"],
        source_id=source["id"],
        kind=source["kind"],
        ref=source["ref"],
        version=source["version"],
        seen_at=source["captured_at"],
    )


async def find_or_create_mention(writer: Writer, name: str, seen_at: datetime) -> Row:
    """Return the mention that a sighting of the name counts for, which is created if needed. It may be ignored."""
    alias = normalise(name)
    mention = await writer.one(MENTIONS["find_counting"], alias=alias)
    if mention is None:
        await writer.run(INSERT, id=new_id(), name=name, alias=alias, first_seen_at=seen_at, last_seen_at=seen_at)
        mention = await writer.one(MENTIONS["find_counting"], alias=alias)
    assert mention is not None
    return mention


def add_quote(
    contexts: list[dict[str, Any]], quote: str | None, source: Row, former_id: UUID | None
) -> list[dict[str, Any]]:
    """Return the newest CONTEXTS_MAX quotes, newest first. A quote replaces that of the older version `former_id`."""
    if quote is None:
        return contexts
    others = [context for context in contexts if context["sourceId"] != str(former_id)]
    added = {"quote": quote, "sourceId": str(source["id"]), "at": source["captured_at"].isoformat()}
    newest = sorted([added, *others], key=lambda context: datetime.fromisoformat(context["at"]), reverse=True)
    return newest[:CONTEXTS_MAX]


async def promote_mentions(writer: Writer, promoted: Mapping[str, UUID]) -> int:
    """Mark the open mentions of these names as promoted to these pages. Return how many there were.

    A promoted mention of the same name whose page was deleted is merged into the new one.
    """
    if not promoted:
        return 0
    names = list(promoted)
    await writer.run(MENTIONS["absorb_sightings"], aliases=names)
    await writer.run(MENTIONS["drop_absorbed"], aliases=names)
    return await writer.run(MENTIONS["promote"], aliases=names, page_ids=list(promoted.values()))


async def ignore_mention(database: Database, scope: Scope, mention_id: UUID) -> SavedMention:
    """Ignore a mention: its name never gets a page, however many sources contain it."""
    async with writing_row(database, scope, MENTIONS["find_owner"], mention_id, NO_MENTION) as writer:
        mention = await writer.one(MENTIONS["find_mention"], mention_id=mention_id)
        if mention is None:
            raise NotFound(NO_MENTION)
        if mention["status"] == "promoted":
            raise BadInput("This name was promoted to a page: it is not open any more.", "mentionId")
        changed = mention["status"] == "open"
        if changed:
            await writer.run(MENTIONS["ignore"], mention_id=mention_id)
            await record(writer, "mention.ignored", mentionId=mention_id)
        return SavedMention(mention_id, "ignored", mention["mention_count"], changed)


@dataclass(slots=True)
class Sighted:
    """A name in a source. `cluster`, if it is given, replaces the stored cluster of the mention."""

    name: str
    source: Row
    """A row of `sources`."""
    quote: str | None = None
    suggested_type: str | None = None
    cluster: Mapping[str, Any] | None = None
    alias: str = field(init=False)

    def __post_init__(self) -> None:
        self.alias = normalise(self.name)


@dataclass(slots=True)
class MentionState:
    """A mention in memory, with the changes that `store` writes."""

    id: UUID
    values: dict[str, Any]
    """The columns of the row, as they will be stored."""
    is_new: bool
    is_changed: bool = False
    standing: dict[tuple[str, str], tuple[UUID, int]] = field(default_factory=dict)
    """The id and number of the counted version of each source, by kind and ref."""
    dropped: set[UUID] = field(default_factory=set)
    """Versions of sources whose stored sightings a newer version replaces."""
    added: dict[UUID, Row] = field(default_factory=dict)
    """Versions of sources whose sightings are to be stored."""

    def see(self, sighted: Sighted) -> bool:
        """Count a sighting. Return false if the same or a newer version of the source was counted already."""
        source, values = sighted.source, self.values
        if sighted.cluster:
            values["cluster"] = dict(sighted.cluster)
            self.is_changed = True
        former, version = self.standing.get((source["kind"], source["ref"]), (None, 0))
        if former is not None and version >= source["version"]:
            return False
        if former is None:
            values["mention_count"] += 1
        elif self.added.pop(former, None) is None:
            self.dropped.add(former)
        self.standing[source["kind"], source["ref"]] = source["id"], source["version"]
        self.added[source["id"]] = source
        values["contexts"] = add_quote(values["contexts"], sighted.quote, source, former)
        values["suggested_type"] = sighted.suggested_type or values["suggested_type"]
        values["first_seen_at"] = min(values["first_seen_at"], source["captured_at"])
        values["last_seen_at"] = max(values["last_seen_at"], source["captured_at"])
        self.is_changed = True
        return True


async def sight_all(writer: Writer, seen: Sequence[Sighted]) -> int:
    """Count all sightings for the mentions of their names. Return how many were new. Ignored mentions stay ignored."""
    if not seen:
        return 0
    held = await find_held(writer, seen)
    await find_standing(writer, seen, held)
    new = sum([held[sighted.alias].see(sighted) for sighted in seen])
    await store(writer, [mention for mention in held.values() if mention.is_changed])
    return new


async def find_held(writer: Writer, seen: Sequence[Sighted]) -> dict[str, MentionState]:
    """Return the mentions of the names by alias, with new mentions for names that have none."""
    rows = await writer.all(MENTIONS["find_each_counting"], aliases=sorted({sighted.alias for sighted in seen}))
    held = {row["alias"]: MentionState(row["id"], dict(row), is_new=False) for row in rows}
    for sighted in seen:
        if sighted.alias not in held:
            held[sighted.alias] = MentionState(new_id(), new_mention(sighted), is_new=True)
    return held


def new_mention(sighted: Sighted) -> dict[str, Any]:
    """Return the columns of a new mention without sightings."""
    at = sighted.source["captured_at"]
    return {
        "name": sighted.name,
        "alias": sighted.alias,
        "mention_count": 0,
        "suggested_type": None,
        "contexts": [],
        "cluster": None,
        "first_seen_at": at,
        "last_seen_at": at,
    }


async def find_standing(writer: Writer, seen: Sequence[Sighted], held: Mapping[str, MentionState]) -> None:
    """Read into `held` which versions of the sources are counted already."""
    pairs = [(held[sighted.alias].id, sighted.source) for sighted in seen if not held[sighted.alias].is_new]
    if not pairs:
        return
    rows = await writer.all(
        MENTIONS["find_seen"],
        mention_ids=[mention_id for mention_id, _ in pairs],
        kinds=[source["kind"] for _, source in pairs],
        refs=[source["ref"] for _, source in pairs],
    )
    by_id = {mention.id: mention for mention in held.values()}
    for row in rows:
        by_id[row["mention_id"]].standing[row["kind"], row["ref"]] = row["source_id"], row["version"]


async def store(writer: Writer, changed: Iterable[MentionState]) -> None:
    """Write new and changed mentions with their sightings."""
    rows = [(mention, {**mention.values, "id": str(mention.id)}) for mention in changed]
    if new := [row for mention, row in rows if mention.is_new]:
        await writer.run(MENTIONS["add_each"], mentions=new)
    if old := [row for mention, row in rows if not mention.is_new]:
        await writer.run(MENTIONS["update_each"], mentions=old)
    if dropped := [(mention.id, id) for mention, _ in rows for id in mention.dropped]:
        await writer.run(
            MENTIONS["drop_seen"], mention_ids=[id for id, _ in dropped], source_ids=[id for _, id in dropped]
        )
    if added := [(mention.id, source) for mention, _ in rows for source in mention.added.values()]:
        await writer.run(
            MENTIONS["add_seen"],
            mention_ids=[id for id, _ in added],
            source_ids=[source["id"] for _, source in added],
            seen_at=[source["captured_at"] for _, source in added],
        )
