"""Many sightings at once: what `mentions.sight` does for each, in a fixed number of statements."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from content.names import normalise
from db.database import Row
from db.ids import new_id

from .mentions import MENTIONS, quoted
from .writer import Writer


@dataclass(slots=True)
class Sighted:
    """A name as a source says it. `source` is a row of sources; `cluster` replaces what was kept with the name."""

    name: str
    source: Row
    quote: str | None = None
    suggested_type: str | None = None
    cluster: Mapping[str, Any] | None = None
    alias: str = field(init=False)

    def __post_init__(self) -> None:
        self.alias = normalise(self.name)


@dataclass(slots=True)
class Held:
    """A mention as it was, and as it is to be."""

    id: UUID
    values: dict[str, Any]
    is_new: bool
    is_changed: bool = False
    standing: dict[tuple[str, str], tuple[UUID, int]] = field(default_factory=dict)
    """The version of each source (kind, ref) that stands for it."""
    dropped: set[UUID] = field(default_factory=set)
    added: dict[UUID, Row] = field(default_factory=dict)

    def see(self, sighted: Sighted) -> bool:
        """Whether that is news: a source counts once, and its newest version stands for all."""
        source, values = sighted.source, self.values
        if sighted.cluster:
            values["cluster"], self.is_changed = dict(sighted.cluster), True
        former, version = self.standing.get((source["kind"], source["ref"]), (None, 0))
        if former is not None and version >= source["version"]:
            return False
        if former is None:
            values["mention_count"] += 1
        elif self.added.pop(former, None) is None:
            self.dropped.add(former)
        self.standing[source["kind"], source["ref"]] = source["id"], source["version"]
        self.added[source["id"]] = source
        values["contexts"] = quoted(values["contexts"], sighted.quote, source, former)
        values["suggested_type"] = sighted.suggested_type or values["suggested_type"]
        values["first_seen_at"] = min(values["first_seen_at"], source["captured_at"])
        values["last_seen_at"] = max(values["last_seen_at"], source["captured_at"])
        self.is_changed = True
        return True


async def sight_all(writer: Writer, seen: Sequence[Sighted]) -> int:
    """Count every source for the name that it says; how many were news. What is ignored stays so."""
    if not seen:
        return 0
    held = await find_held(writer, seen)
    await find_standing(writer, seen, held)
    news = sum([held[one.alias].see(one) for one in seen])
    await store(writer, [one for one in held.values() if one.is_changed])
    return news


async def find_held(writer: Writer, seen: Sequence[Sighted]) -> dict[str, Held]:
    """By alias; one for each name that was never seen, too."""
    rows = await writer.all(MENTIONS["find_each_counting"], aliases=sorted({one.alias for one in seen}))
    held = {row["alias"]: Held(row["id"], dict(row), is_new=False) for row in rows}
    for one in seen:
        if one.alias not in held:
            held[one.alias] = Held(new_id(), unseen(one), is_new=True)
    return held


def unseen(sighted: Sighted) -> dict[str, Any]:
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


async def find_standing(writer: Writer, seen: Sequence[Sighted], held: Mapping[str, Held]) -> None:
    """Which versions of these sources stand for the names already."""
    asked = [(held[one.alias].id, one.source) for one in seen if not held[one.alias].is_new]
    if not asked:
        return
    rows = await writer.all(
        MENTIONS["find_seen"],
        mention_ids=[mention_id for mention_id, _ in asked],
        kinds=[source["kind"] for _, source in asked],
        refs=[source["ref"] for _, source in asked],
    )
    by_id = {one.id: one for one in held.values()}
    for row in rows:
        by_id[row["mention_id"]].standing[row["kind"], row["ref"]] = row["source_id"], row["version"]


async def store(writer: Writer, changed: Iterable[Held]) -> None:
    rows = [(one, {**one.values, "id": str(one.id)}) for one in changed]
    if new := [row for one, row in rows if one.is_new]:
        await writer.run(MENTIONS["add_each"], mentions=new)
    if old := [row for one, row in rows if not one.is_new]:
        await writer.run(MENTIONS["update_each"], mentions=old)
    if dropped := [(one.id, id) for one, _ in rows for id in one.dropped]:
        await writer.run(
            MENTIONS["drop_seen"], mention_ids=[id for id, _ in dropped], source_ids=[id for _, id in dropped]
        )
    if added := [(one.id, source) for one, _ in rows for source in one.added.values()]:
        await writer.run(
            MENTIONS["add_seen"],
            mention_ids=[id for id, _ in added],
            source_ids=[source["id"] for _, source in added],
            seen_at=[source["captured_at"] for _, source in added],
        )
