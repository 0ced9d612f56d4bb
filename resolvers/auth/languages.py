"""The language that a wiki is written in: said here, and then read by a job."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from content.languages import LANGUAGES, named
from db.database import Connection, Database
from db.scope import Scope
from db.sql import statements

from ..errors import BadInput
from ..jobs.queue import enqueue
from ..permissions import Action
from ..transactions.activity import record
from ..transactions.transaction import writing

OWNERS = statements("owners")
REINDEXING = statements("search_reindexing")
TRIGGER = "reindex"


@dataclass(frozen=True, slots=True)
class LanguageSet:
    """`job_id` is the job that reads the pages again; none where the wiki is in that language already."""

    owner_id: UUID
    language: str
    job_id: UUID | None


async def set_wiki_language(database: Database, scope: Scope, language: str) -> LanguageSet:
    """The pages of the scope's wiki are in that language from now on, unless they say otherwise; for admins.

    Search finds them by the stems of the former one until the job has read them. Raises BadInput.
    """
    async with writing(database, scope, Action.ADMINISTER) as writer:
        language = await known_language(writer, language)
        if not await change_language(writer, scope, language):
            return LanguageSet(scope.owner_id, language, None)
        await record(writer, "wiki.language_set", language=language)
        job_id = await enqueue(writer, scope.tenant_id, scope.owner_id, TRIGGER, subject=TRIGGER)
        return LanguageSet(scope.owner_id, language, job_id)


async def change_language(connection: Connection, scope: Scope, language: str) -> bool:
    """By the only writer of the wiki. False when that was its language; else every page is to be read again."""
    own = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
    row = await connection.one(OWNERS["set_language"], **own, language=language)
    if row is not None:
        await connection.run(REINDEXING["read_anew"], **own, now=datetime.now(UTC))
    return row is not None


async def known_language(connection: Connection, text: str) -> str:
    """By the name that Postgres has for it, whatever way it was written: `de`, `de-AT`, `German`."""
    language = named(text)
    if language is None:
        raise BadInput(f"Search knows no such language. It knows {', '.join(sorted(LANGUAGES))}.", "language")
    if not await connection.value(OWNERS["has_language"], language=language):
        raise BadInput(
            f"This Postgres has no stemmer for {language}; a newer one may. `simple` takes words as they are.",
            "language",
        )
    return language
