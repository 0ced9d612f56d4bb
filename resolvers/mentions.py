"""Names seen in sources that have not earned a page yet."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from content.limits import QUOTE
from content.names import normalise
from db.database import Database, Row
from db.ids import new_id
from db.scope import Scope
from db.sql import inserting, statements
from db.tables import PAGE_TYPES
from db.tables import mentions as table

from . import checks
from .activity import record
from .errors import BadInput, NotFound
from .permissions import Action, authorise
from .sources import find_source
from .sweeping import EARNED_LEAST, ask_for
from .writer import Writer
from .writing import looking, writing, writing_row

MENTIONS = statements("mentions")
INSERT = inserting(table, "tenant_id", "owner_id", "id", "name", "alias", "first_seen_at", "last_seen_at")
CONTEXTS_MAX = 5
NO_MENTION = "There is no such mention, or none that you may see."


@dataclass(frozen=True, slots=True)
class SavedMention:
    """A name, and how many sources were seen to use it."""

    mention_id: UUID
    status: str
    count: int
    changed: bool = True


async def find_nearest(database: Database, scope: Scope, size: int) -> list[Row]:
    """The held names of the scope's wiki that most sources say, each with the `total` of held names."""
    async with looking(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        wanted = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
        return await connection.all(MENTIONS["find_nearest"], **wanted, size=size)


async def record_mention(
    database: Database,
    scope: Scope,
    *,
    name: str,
    source_id: UUID,
    quote: str | None = None,
    suggested_type: str | None = None,
) -> SavedMention:
    """A source names something. Each source counts once, however often it is read and however many versions it has."""
    name = checks.alias(name)
    quote = checks.optional(quote, "quote", QUOTE.most)
    if suggested_type is not None:
        checks.one_of(suggested_type, PAGE_TYPES, "suggestedType")
    async with writing(database, scope) as writer:
        source = await find_source(writer, source_id)
        sighted = await sight(writer, name, source, quote, suggested_type)
        if sighted.changed:
            await record(writer, "mention.recorded", mentionId=sighted.mention_id, sourceId=source_id)
        if sighted.changed and sighted.count >= EARNED_LEAST and sighted.status == "open":
            await ask_for(writer, sighted.mention_id)
        return sighted


async def sight(writer: Writer, name: str, source: Row, quote: str | None, suggested_type: str | None) -> SavedMention:
    """Count a source for a name, with what it says."""
    mention = await counting(writer, name, source["captured_at"])
    seen = await see(writer, mention, source)
    if seen is None:
        return SavedMention(mention["id"], mention["status"], mention["mention_count"], changed=False)
    added = seen["former_id"] is None
    await writer.run(
        MENTIONS["count"],
        mention_id=mention["id"],
        added=int(added),
        seen_at=source["captured_at"],
        contexts=quoted(mention["contexts"], quote, source, seen["former_id"]),
        suggested_type=suggested_type or mention["suggested_type"],
    )
    return SavedMention(mention["id"], mention["status"], mention["mention_count"] + added)


async def see(writer: Writer, mention: Row, source: Row) -> Row | None:
    """The sighting: none when this version or a newer one was seen; `former_id` is the older one that stood there."""
    return await writer.one(
        MENTIONS["see"],
        mention_id=mention["id"],
        source_id=source["id"],
        kind=source["kind"],
        ref=source["ref"],
        version=source["version"],
        seen_at=source["captured_at"],
    )


async def counting(writer: Writer, name: str, seen_at: datetime) -> Row:
    """The mention that a sighting counts for, made at the first. What is ignored stays so."""
    alias = normalise(name)
    mention = await writer.one(MENTIONS["find_counting"], alias=alias)
    if mention is None:
        await writer.run(INSERT, id=new_id(), name=name, alias=alias, first_seen_at=seen_at, last_seen_at=seen_at)
        mention = await writer.one(MENTIONS["find_counting"], alias=alias)
    assert mention is not None
    return mention


def quoted(
    contexts: list[dict[str, Any]], quote: str | None, source: Row, former_id: UUID | None
) -> list[dict[str, Any]]:
    """The last few quotes, newest first; one of an older version of the source makes room for its new one."""
    if quote is None:
        return contexts
    others = [context for context in contexts if context["sourceId"] != str(former_id)]
    added = {"quote": quote, "sourceId": str(source["id"]), "at": source["captured_at"].isoformat()}
    newest = sorted([added, *others], key=lambda context: datetime.fromisoformat(context["at"]), reverse=True)
    return newest[:CONTEXTS_MAX]


async def ignore_mention(database: Database, scope: Scope, mention_id: UUID) -> SavedMention:
    """Nobody wants a page for this name, however often it is seen."""
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
