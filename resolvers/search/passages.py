"""The index of passages, by which sources are searched. It is written in the transaction that stores the sources.

Its statistics are in the tables of the index of pages. The number of an index of passages is that of its analyser plus
PASSAGES.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from content.languages import language_of
from content.search.passages import Passage, corrects, is_question, passages
from content.search.words import ANALYSER, ANALYSERS
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from ..transactions.transaction import lock_wiki, transaction
from ..transactions.writer import Writer
from .index import vocabulary
from .lexemes import PASSAGES, fold, fold_when_due, scope_letter

INDEX, REINDEXING = statements("search/passages"), statements("search/reindexing")
CURRENT, SUPERSEDED = "current", "superseded"
BATCH, CHARACTERS = 200, 1_000_000  # sources that one transaction indexes, and the characters of all of them
OLDER = ("drop_older_counts", "drop_older_vocabulary", "drop_older_changes", "drop_older_scopes")
FIRST = UUID(int=0)


class IndexedSource(NamedTuple):
    """The part of a source that is indexed. Its metadata may name its language; `is_current` if no version is newer."""

    id: UUID
    kind: str
    content: str
    captured_at: datetime
    metadata: dict[str, Any]
    is_current: bool = True


async def write_passages(writer: Writer, sources: Sequence[IndexedSource], superseded: Sequence[UUID] = ()) -> None:
    """Index the passages of new sources, and mark the passages of the versions that they supersede."""
    if superseded:
        await writer.run(INDEX["supersede_passages"], source_ids=list(superseded))
    if not sources:
        return
    language, indexes = await find_indexes(writer, [source.id for source in sources])
    for number, is_ready in indexes:
        row = await insert(writer, number, sources, language)
        if row and is_ready:
            if row["is_in_new_language"]:  # queries are stemmed in a language only after a fold has recorded it
                await fold(writer, number)
            else:
                await fold_when_due(writer, number, pages=row["pages"], waiting=row["waiting"] + row["written"])


async def find_indexes(writer: Writer, source_ids: Sequence[UUID]) -> tuple[str, list[tuple[int, bool]]]:
    """Return the language of the wiki, and the number of each index to write with whether the index is complete.

    Open an index if the wiki has none.
    """
    rows = await writer.all(INDEX["find_indexes"])
    found = [(row["analyser"], row["state"] == "ready") for row in rows if row["analyser"] is not None]
    if not found:
        state = await writer.value(INDEX["open_index"], analyser=PASSAGES + ANALYSER, source_ids=list(source_ids))
        found = [(PASSAGES + ANALYSER, state == "ready")]
    return rows[0]["language"], [(number, is_ready) for number, is_ready in found if number - PASSAGES in ANALYSERS]


async def insert(writer: Writer, number: int, sources: Sequence[IndexedSource], language: str) -> Any:
    size = sum(len(source.content) for source in sources)
    values = await offload(size, rows_of, writer.scope, number, sources, language)
    return await writer.one(INDEX["write_passages"], **values)


async def drop_passages(writer: Writer, source_ids: Sequence[UUID], number: int | None = None) -> None:
    """Remove the passages of sources from one index or from all, and their words from the counts."""
    changes = [new_id() for _ in source_ids]
    await writer.run(INDEX["drop_passages"], source_ids=list(source_ids), change_ids=changes, analyser=number)


async def count_passage_words(writer: Writer) -> list[int]:
    """Fold all pending changes into the word counts, and return the numbers of the indexes."""
    rows = await writer.all(INDEX["find_indexes"])
    numbers = [row["analyser"] for row in rows if row["analyser"] is not None]
    for number in numbers:
        await fold(writer, number)
    return numbers


def rows_of(scope: Scope, number: int, sources: Sequence[IndexedSource], language: str) -> dict[str, Any]:
    """Return the parameters of `write_passages` except the scope: lists with an item per source, and per passage."""
    rows = [(source, [row_of(source, passage, number) for passage in passages(source.content)]) for source in sources]
    passage_rows = [row for _, source_rows in rows for row in source_rows]
    return {
        "analyser": number,
        "letter": scope_letter(scope.tenant_id, scope.owner_id, number),
        "source_ids": [source.id for source in sources],
        "change_ids": [new_id() for _ in sources],
        "statuses": [CURRENT if source.is_current else SUPERSEDED for source in sources],
        "kinds": [source.kind for source in sources],
        "captured_ats": [source.captured_at for source in sources],
        "languages": [language_of(source.metadata, language) for source in sources],
        "text_words": [words_in(source_rows, "heading_words", "bodies") for _, source_rows in rows],
        "name_words": [words_in(source_rows, "speaker_words") for _, source_rows in rows],
        "owners_of": [source.id for source, source_rows in rows for _ in source_rows],
        "positions": [position for _, source_rows in rows for position, _ in enumerate(source_rows)],
        **{name: [row[name] for row in passage_rows] for name in ROW},
    }


def words_in(rows: Sequence[dict[str, Any]], *names: str) -> str:
    """Return the words of these columns that queries can complete or correct."""
    return " ".join(vocabulary([word for row in rows for name in names for word in row[name].split()]))


ROW = (
    "start_offsets", "end_offsets", "line_starts", "line_ends", "headings", "speakers", "asked", "corrected", "texts",
    "speaker_words", "heading_words", "bodies", "words",
)  # fmt: skip


def row_of(source: IndexedSource, passage: Passage, number: int) -> dict[str, Any]:
    analyse = ANALYSERS[number - PASSAGES]
    speaker, heading = analyse(passage.speaker), analyse(passage.heading)
    body = analyse(source.content[passage.said_from : passage.end])
    text = source.content[passage.start : passage.end]
    values = (
        *passage[:6],
        is_question(text),
        corrects(text),
        text,
        " ".join(speaker),
        " ".join(heading),
        " ".join(body),
        len(body),
    )
    return dict(zip(ROW, values, strict=True))


Progress = Callable[[int], None]


async def request_passage_reindex(database: Database, scope: Scope) -> None:
    """Request that the next reindexing of the wiki reads every source again."""
    async with transaction(database) as connection:
        await lock_wiki(connection, scope)
        await Writer(connection, scope).run(REINDEXING["read_again"], analyser=PASSAGES + ANALYSER)


async def reindex_passages(
    database: Database, scope: Scope, progress: Progress = lambda _: None, *, keep_older: bool = False
) -> int:
    """Index the sources that the current index lacks, let queries use that index, and return the number of sources.

    It may be interrupted and repeated: sources that are indexed stay indexed. `keep_older` keeps the indexes of older
    analysers, which servers of the release before still read.
    """
    done, after = 0, FIRST
    while source_ids := await read_sources(database, scope, after):
        done += len(source_ids)
        after = source_ids[-1]
        progress(len(source_ids))
    if not keep_older:
        await finish_passages(database, scope)
    return done


async def read_sources(database: Database, scope: Scope, after: UUID) -> list[UUID]:
    """Index the next batch of sources after this id, in one transaction, and return their ids.

    The batch is one of earlier sources if the reindexing was requested anew meanwhile. When no source is left, let
    queries use the index and return an empty list.
    """
    number = PASSAGES + ANALYSER
    async with transaction(database) as connection:
        await lock_wiki(connection, scope)
        writer = Writer(connection, scope)
        if not await writer.value(INDEX["has_sources"]):
            await writer.run(INDEX["end_building"], analyser=number)  # every source was forgotten meanwhile
            return []
        await writer.run(REINDEXING["begin_building"], analyser=number)
        begun = await writer.all(REINDEXING["find_reached"], analyser=number)
        start = min(after, *(row["reached"] for row in begun)) if begun else after
        rows = await writer.all(INDEX["find_unread"], analyser=number, after=start, size=BATCH, characters=CHARACTERS)
        source_ids = [row["id"] for row in rows]
        if rows:
            await drop_passages(writer, source_ids, number)
            await insert(writer, number, [index_source(row) for row in rows], rows[0]["language"])
        await fold(writer, number)
        if rows:
            await writer.run(INDEX["reach_source"], analyser=number, source_id=source_ids[-1])
        else:
            await writer.run(INDEX["end_building"], analyser=number)
    return source_ids


def index_source(row: Any) -> IndexedSource:
    is_current = not row["is_superseded"]
    return IndexedSource(row["id"], row["kind"], row["content"], row["captured_at"], row["metadata"], is_current)


async def finish_passages(database: Database, scope: Scope) -> None:
    """Drop the indexes of passages of older analysers, a batch of rows per transaction."""
    values = {**scope.wiki_values, "analyser": PASSAGES + ANALYSER}
    is_left = True
    while is_left:
        async with transaction(database) as connection:
            await lock_wiki(connection, scope)
            is_left = await connection.run(INDEX["drop_older_passages"], **values, size=BATCH) == BATCH
            for name in OLDER if not is_left else ():
                await connection.run(REINDEXING[name], **values, first=PASSAGES)
