"""Import of mentions from an export: their sightings, and whether they were ignored or promoted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from content.limits import QUOTE
from content.names import normalise
from content.notes.records import PROMOTED, MentionRecord, SightingRecord
from db.database import Database
from db.scope import Scope
from db.sql import statements
from db.tables import PAGE_TYPES

from .. import validation
from ..errors import BadInput
from ..sources.mentions import Held, Sighted, find_held, find_standing, store
from ..transactions.transaction import writing
from ..transactions.writer import Writer, record
from .disk.temp_database import TempDatabase, temp_statements
from .notes import ImportProblem

IMPORTS = statements("import_export/imports")
PROMOTIONS = temp_statements("promotions")
MENTIONS_PER_BATCH = 1_000
ADDRESS = "/wiki/"
IGNORED = "ignored"
Sources = Mapping[SightingRecord, Mapping[str, Any]]
Told = tuple[str, MentionRecord]
"""The label of a line, and its record."""


async def count_sightings(database: Database, scope: Scope, told: Sequence[Told]) -> list[ImportProblem]:
    """Store all sightings that the wiki lacks, in one transaction; return the problems of refused records."""
    problems: list[ImportProblem] = []
    sound: list[Told] = []
    for label, one in told:
        try:
            sound.append((label, check_record(one)))
        except BadInput as error:
            problems.append(ImportProblem(label, error.code, error.message))
    async with writing(database, scope) as writer:
        sources = await find_sources(writer, [seen for _, one in sound for seen in one.sightings])
        problems += [lacking(label, one) for label, one in sound if not sources.keys() >= set(one.sightings)]
        await count(writer, [one for _, one in sound if one.status == IGNORED or sightings_of(one, sources)], sources)
    return problems


class Promotions:
    """The promoted mentions of an export, which are promoted again once their pages are imported."""

    def __init__(self, temp: TempDatabase) -> None:
        self.temp = temp
        temp.make(PROMOTIONS["make_tables"])

    def add(self, one: MentionRecord) -> None:
        if one.status == PROMOTED:
            self.temp.put(PROMOTIONS["add"], alias=normalise(one.name), page=one.page)

    async def write(self, database: Database, scope: Scope) -> None:
        """Promote each mention whose page was imported and has the name; other mentions stay open."""
        for some in self.temp.some(MENTIONS_PER_BATCH, PROMOTIONS["list"]):
            pages = [page.removeprefix(ADDRESS).partition("/") for _, page in some]
            async with writing(database, scope) as writer:
                rows = await writer.all(
                    IMPORTS["promote_each"],
                    aliases=[alias for alias, _ in some],
                    types=[type for type, _, _ in pages],
                    slugs=[slug for _, _, slug in pages],
                )
                for row in rows:
                    await record(writer, "mention.promoted", row["page_id"], mentionId=row["id"])


def check_record(one: MentionRecord) -> MentionRecord:
    """Return the record with validated values. Raises BadInput."""
    if one.suggested_type is not None:
        validation.one_of(one.suggested_type, PAGE_TYPES, "suggested_type")
    return replace(
        one,
        name=validation.alias(one.name, restored=True),
        first_seen_at=one.first_seen_at and validation.timestamp(one.first_seen_at, "first_seen_at"),
        last_seen_at=one.last_seen_at and validation.timestamp(one.last_seen_at, "last_seen_at"),
        sightings=tuple(
            replace(each, quote=validation.optional(each.quote, "quote", QUOTE.stored)) for each in one.sightings
        ),
    )


async def find_sources(writer: Writer, seen: Sequence[SightingRecord]) -> Sources:
    rows = await writer.all(
        IMPORTS["find_sighting_sources"],
        kinds=[one.kind for one in seen],
        refs=[one.ref for one in seen],
        versions=[one.version for one in seen],
    )
    return {seen[row["n"] - 1]: row for row in rows}


def lacking(label: str, one: MentionRecord) -> ImportProblem:
    message = f'the wiki does not have every source that says "{one.name}": import those sources too'
    return ImportProblem(label, BadInput.code, message)


def sightings_of(one: MentionRecord, sources: Sources) -> list[Sighted]:
    return [
        Sighted(one.name, sources[each], each.quote, one.suggested_type) for each in one.sightings if each in sources
    ]


async def count(writer: Writer, told: Sequence[MentionRecord], sources: Sources) -> None:
    """Store the sightings as `sight_all` does, and when the names were seen and whether they are ignored."""
    seen = [(one, sightings_of(one, sources)) for one in told]
    held = await find_held(writer, [first(writer, one, some) for one, some in seen])
    await find_standing(writer, [each for _, some in seen for each in some], held)
    ignored = set()
    for one, some in seen:
        mention = held[normalise(one.name)]
        bring_up(mention, one, some)
        if one.status == IGNORED and mention.values.get("status", "open") == "open":
            ignored.add(mention.id)
            mention.is_changed = True
    changed = [mention for mention in held.values() if mention.is_changed]
    await store(writer, changed)
    if ignored:
        await writer.run(IMPORTS["ignore_each"], mention_ids=sorted(ignored))
    for mention in changed:
        action = "mention.ignored" if mention.id in ignored else "mention.recorded"
        await record(writer, action, mentionId=mention.id)


def first(writer: Writer, one: MentionRecord, some: Sequence[Sighted]) -> Sighted:
    """Return the sighting that begins a mention: without a source, at the moment when the name was first seen."""
    at = one.first_seen_at or (some[0].source["captured_at"] if some else writer.now)
    return Sighted(one.name, {"captured_at": at}, suggested_type=one.suggested_type)


def bring_up(mention: Held, one: MentionRecord, some: Sequence[Sighted]) -> None:
    values = mention.values
    for sighted in some:
        mention.see(sighted)
    since = min(values["first_seen_at"], one.first_seen_at or values["first_seen_at"])
    until = max(values["last_seen_at"], one.last_seen_at or values["last_seen_at"])
    if (since, until) != (values["first_seen_at"], values["last_seen_at"]):
        values["first_seen_at"], values["last_seen_at"], mention.is_changed = since, until, True
