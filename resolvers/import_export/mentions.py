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
from ..sources.mentions import MentionState, Sighted, find_held, find_standing, store
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
LabelledMention = tuple[str, MentionRecord]
"""The label of a line, and its record."""


async def count_sightings(database: Database, scope: Scope, labelled: Sequence[LabelledMention]) -> list[ImportProblem]:
    """Store all sightings that the wiki lacks, in one transaction; return the problems of refused records."""
    problems: list[ImportProblem] = []
    valid: list[LabelledMention] = []
    for label, mention_record in labelled:
        try:
            valid.append((label, check_record(mention_record)))
        except BadInput as error:
            problems.append(ImportProblem(label, error.code, error.message))
    async with writing(database, scope) as writer:
        sources = await find_sources(
            writer, [sighting for _, mention_record in valid for sighting in mention_record.sightings]
        )
        problems += [
            missing_source_problem(label, mention_record)
            for label, mention_record in valid
            if not sources.keys() >= set(mention_record.sightings)
        ]
        await count(
            writer,
            [
                mention_record
                for _, mention_record in valid
                if mention_record.status == IGNORED or sightings_of(mention_record, sources)
            ],
            sources,
        )
    return problems


class Promotions:
    """The promoted mentions of an export, which are promoted again once their pages are imported."""

    def __init__(self, temp: TempDatabase) -> None:
        self.temp = temp
        temp.make(PROMOTIONS["make_tables"])

    def add(self, record: MentionRecord) -> None:
        if record.status == PROMOTED:
            self.temp.put(PROMOTIONS["add"], alias=normalise(record.name), page=record.page)

    async def write(self, database: Database, scope: Scope) -> None:
        """Promote each mention whose page was imported and has the name; other mentions stay open."""
        for batch in self.temp.batches(MENTIONS_PER_BATCH, PROMOTIONS["list"]):
            pages = [page.removeprefix(ADDRESS).partition("/") for _, page in batch]
            async with writing(database, scope) as writer:
                rows = await writer.all(
                    IMPORTS["promote_each"],
                    aliases=[alias for alias, _ in batch],
                    types=[type for type, _, _ in pages],
                    slugs=[slug for _, _, slug in pages],
                )
                for row in rows:
                    await record(writer, "mention.promoted", row["page_id"], mentionId=row["id"])


def check_record(mention_record: MentionRecord) -> MentionRecord:
    """Return the record with validated values. Raises BadInput."""
    if mention_record.suggested_type is not None:
        validation.one_of(mention_record.suggested_type, PAGE_TYPES, "suggested_type")
    return replace(
        mention_record,
        name=validation.alias(mention_record.name, restored=True),
        first_seen_at=mention_record.first_seen_at
        and validation.timestamp(mention_record.first_seen_at, "first_seen_at"),
        last_seen_at=mention_record.last_seen_at and validation.timestamp(mention_record.last_seen_at, "last_seen_at"),
        sightings=tuple(
            replace(each, quote=validation.optional(each.quote, "quote", QUOTE.stored))
            for each in mention_record.sightings
        ),
    )


async def find_sources(writer: Writer, sighting_records: Sequence[SightingRecord]) -> Sources:
    rows = await writer.all(
        IMPORTS["find_sighting_sources"],
        kinds=[sighting.kind for sighting in sighting_records],
        refs=[sighting.ref for sighting in sighting_records],
        versions=[sighting.version for sighting in sighting_records],
    )
    return {sighting_records[row["n"] - 1]: row for row in rows}


def missing_source_problem(label: str, mention_record: MentionRecord) -> ImportProblem:
    message = f'the wiki does not have every source that says "{mention_record.name}": import those sources too'
    return ImportProblem(label, BadInput.code, message)


def sightings_of(mention_record: MentionRecord, sources: Sources) -> list[Sighted]:
    return [
        Sighted(mention_record.name, sources[each], each.quote, mention_record.suggested_type)
        for each in mention_record.sightings
        if each in sources
    ]


async def count(writer: Writer, labelled: Sequence[MentionRecord], sources: Sources) -> None:
    """Store the sightings as `sight_all` does, and when the names were seen and whether they are ignored."""
    with_sightings = [(mention_record, sightings_of(mention_record, sources)) for mention_record in labelled]
    held = await find_held(
        writer, [first(writer, mention_record, sightings) for mention_record, sightings in with_sightings]
    )
    await find_standing(writer, [each for _, sightings in with_sightings for each in sightings], held)
    ignored = set()
    for mention_record, sightings in with_sightings:
        mention = held[normalise(mention_record.name)]
        update_mention(mention, mention_record, sightings)
        if mention_record.status == IGNORED and mention.values.get("status", "open") == "open":
            ignored.add(mention.id)
            mention.is_changed = True
    changed = [mention for mention in held.values() if mention.is_changed]
    await store(writer, changed)
    if ignored:
        await writer.run(IMPORTS["ignore_each"], mention_ids=sorted(ignored))
    for mention in changed:
        action = "mention.ignored" if mention.id in ignored else "mention.recorded"
        await record(writer, action, mentionId=mention.id)


def first(writer: Writer, mention_record: MentionRecord, sightings: Sequence[Sighted]) -> Sighted:
    """Return the sighting that begins a mention: without a source, at the moment when the name was first seen."""
    at = mention_record.first_seen_at or (sightings[0].source["captured_at"] if sightings else writer.now)
    return Sighted(mention_record.name, {"captured_at": at}, suggested_type=mention_record.suggested_type)


def update_mention(mention: MentionState, mention_record: MentionRecord, sightings: Sequence[Sighted]) -> None:
    values = mention.values
    for sighted in sightings:
        mention.see(sighted)
    since = min(values["first_seen_at"], mention_record.first_seen_at or values["first_seen_at"])
    until = max(values["last_seen_at"], mention_record.last_seen_at or values["last_seen_at"])
    if (since, until) != (values["first_seen_at"], values["last_seen_at"]):
        values["first_seen_at"], values["last_seen_at"], mention.is_changed = since, until, True
