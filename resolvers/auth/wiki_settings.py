"""The settings of wikis, such as the language, the thresholds of lint, and who may read and write what."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from uuid import UUID

from content.languages import LANGUAGES, find_configuration
from db.connection import Connection, Row
from db.database import Database
from db.scope import Scope
from db.sql import statements

from .. import validation
from ..errors import BadInput
from ..jobs.queue import enqueue
from ..permissions import Action
from ..proposals.gate import PolicyRule, Significance, checked_rules
from ..transactions.audit import Event, audit
from ..transactions.transaction import writing
from ..transactions.writer import record

OWNERS = statements("access/owners")
REINDEXING = statements("search/reindexing")
TRIGGER = "reindex"
SCORE_BOOST = (0.0, 10.0)  # minimum and maximum
CEILINGS = ("internal", "confidential", "secret")


@dataclass(frozen=True, slots=True)
class WikiSettings:
    """The settings of a wiki. In a change, None leaves a setting as it is."""

    score_boost: float | None = None
    min_sources_for_synthesis: int | None = None
    stale_after_days: int | None = None
    oversize_characters: int | None = None
    lint_min_pages: int | None = None
    lint_every_days: int | None = None
    lint_after_sources: int | None = None
    requires_sensitivity: bool | None = None
    write_policy: Sequence[PolicyRule] | None = None
    """The complete list of rules, which replaces the former one. A role without a rule may write."""
    reader_ceiling: str | None = None
    """The highest sensitivity of pages, sections and sources that readers see."""
    member_ceiling: str | None = None
    """The highest sensitivity of pages, sections and sources that members by grant see."""
    decision_threshold: str | None = None
    """The lowest significance at which a decision gets a page."""


USUAL = WikiSettings(0.9, 3, 90, 20_000, 3, 7, 5, False)
BOUNDS: Mapping[str, tuple[str, int, int]] = {
    "min_sources_for_synthesis": ("minSourcesForSynthesis", 1, 100),
    "stale_after_days": ("staleAfterDays", 1, 3_650),
    "oversize_characters": ("oversizeCharacters", 1_000, 1_000_000),
    "lint_min_pages": ("lintMinPages", 1, 1_000),
    "lint_every_days": ("lintEveryDays", 0, 365),
    "lint_after_sources": ("lintAfterSources", 0, 1_000),
}
"""The API field, minimum and maximum of each integer setting. A 0 for days or sources means never."""
OF_THIS_PLACE = frozenset({"write_policy", "reader_ceiling", "member_ceiling", "decision_threshold"})
"""The settings that an export of a wiki leaves out, because each server decides itself who may read and write."""


async def update_wiki_settings(database: Database, scope: Scope, settings: WikiSettings) -> bool:
    """Change settings of the scope's wiki; return False if nothing changed. For admins. Raises BadInput."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        changed = await change_settings(writer, scope, settings)
        if changed:
            changes = {name: value for name, value in asdict(settings).items() if value is not None}
            if settings.write_policy is not None:
                changes["write_policy"] = checked_rules(settings.write_policy)
            await record(writer, "wiki.settings_updated", **changes)
            await audit(writer, scope.tenant_id, scope.actor, Event.SETTINGS_UPDATED, scope.owner_id, **changes)
        return changed


async def change_settings(connection: Connection, scope: Scope, settings: WikiSettings) -> bool:
    """Change settings; return False if nothing changed. Raises BadInput for a setting out of its bounds."""
    boost, values = settings.score_boost, asdict(settings)
    if boost is not None and not SCORE_BOOST[0] <= boost <= SCORE_BOOST[1]:
        raise BadInput("A score boost is a number between 0 and 10; pages have 0.9 unless you set it.", "scoreBoost")
    for name, (field, minimum, maximum) in BOUNDS.items():
        if values[name] is not None and not minimum <= values[name] <= maximum:
            raise BadInput(f"This must lie between {minimum:,} and {maximum:,}.", field)
    for name, field in (("reader_ceiling", "readerCeiling"), ("member_ceiling", "memberCeiling")):
        if values[name] is not None:
            validation.one_of(values[name], CEILINGS, field)
    if settings.decision_threshold is not None:
        validation.one_of(settings.decision_threshold, tuple(Significance), "decisionThreshold")
    if settings.write_policy is not None:
        values["write_policy"] = checked_rules(settings.write_policy)
    where = scope.wiki_values
    return await connection.one(OWNERS["update_settings"], **where, **values) is not None


def settings_from(row: Row) -> WikiSettings:
    """Return the settings that an export of a wiki includes."""
    return WikiSettings(
        **{field.name: row[field.name] for field in fields(WikiSettings) if field.name not in OF_THIS_PLACE}
    )


@dataclass(frozen=True, slots=True)
class LanguageSet:
    """The result of a change of language. `job_id` is the job that reindexes the wiki; None if nothing changed."""

    owner_id: UUID
    language: str
    job_id: UUID | None


async def set_wiki_language(database: Database, scope: Scope, language: str) -> LanguageSet:
    """Set the language of the scope's wiki, which applies to all pages that specify no other. For admins.

    Until the job has reindexed the pages, search finds them by stems of the former language. Raises BadInput.
    """
    async with writing(database, scope, Action.ADMINISTER) as writer:
        language = await find_language(writer, language)
        if not await change_language(writer, scope, language):
            return LanguageSet(scope.owner_id, language, None)
        await record(writer, "wiki.language_set", language=language)
        job_id = await enqueue(writer, scope.tenant_id, scope.owner_id, TRIGGER, subject=TRIGGER)
        return LanguageSet(scope.owner_id, language, job_id)


async def change_language(connection: Connection, scope: Scope, language: str) -> bool:
    """Set the language of the wiki, which the caller has locked, and mark all pages to be reindexed.

    Return False if the wiki has this language already.
    """
    where = scope.wiki_values
    row = await connection.one(OWNERS["set_language"], **where, language=language)
    if row is not None:
        await connection.run(REINDEXING["read_anew"], **where, now=datetime.now(UTC))
    return row is not None


async def find_language(connection: Connection, text: str) -> str:
    """Return the Postgres name of a language, written such as `de`, `de-AT` or `German`. Raises BadInput."""
    language = find_configuration(text)
    if language is None:
        raise BadInput(f"The language is not supported. Choose one of {', '.join(sorted(LANGUAGES))}.", "language")
    if not await connection.value(OWNERS["has_language"], language=language):
        raise BadInput(
            f"This Postgres has no stemmer for {language}; upgrade PostgreSQL, or use `simple`.",
            "language",
        )
    return language
