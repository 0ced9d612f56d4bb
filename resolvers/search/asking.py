"""Search: from the text of a question to the pages that answer it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from content.search_query import SearchQuery, understand
from content.words import words
from db.database import Connection, Database, Row
from db.scope import Scope
from db.sql import statements

from ..errors import NotFound
from ..owners import find_owner
from ..permissions import Action, authorise
from . import cursors, demands
from .passages import with_passages
from .question import Question, question
from .reading import Reading, read
from .results import MOST, Asked, Filter, Found, Hit
from .weights import COUNTED, WEIGHTS

RANKING = statements("search_ranking")
PARTS = ("in_text", "in_names", "named", "together", "heading", "begun", "topic")
ENOUGH = 10  # hits; with fewer a question is asked again in a wider way
EVER = (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))


async def search(database: Database, scope: Scope, asked: Asked) -> Found:
    """The best pages for a question; nothing, without SQL, for one that says nothing.

    A wiki that the caller may not read has no pages. Raises BadInput for a cursor of another search.
    """
    query = understand(asked.text)
    wanted = demands.merged(query, asked.filter)
    if not (words(query.words) or narrows(asked, query)):
        return Found()
    try:
        scope = await in_wiki(database, scope, asked, query)
    except NotFound:
        return Found()
    async with database.searching() as connection:
        return await Search(connection, scope, asked, query, wanted).found()


def narrows(asked: Asked, query: SearchQuery) -> bool:
    """Is there anything to find pages by, besides words?"""
    return replace(query, words="") != SearchQuery() or asked.filter != Filter()


async def in_wiki(database: Database, scope: Scope, asked: Asked, query: SearchQuery) -> Scope:
    """The scope in the wiki that is asked; raises NotFound for one that the caller may not read."""
    owner_id = asked.owner_id
    if query.owner is not None:
        owner_id = (await find_owner(database, scope.tenant_id, query.owner)).id
    if owner_id in (None, scope.owner_id):
        return scope
    async with database.connection() as connection:
        await authorise(connection, scope, owner_id, Action.READ)
    return scope.in_owner(owner_id)


class Search:
    """One question to one wiki."""

    def __init__(self, connection: Connection, scope: Scope, asked: Asked, query: SearchQuery, wanted: Filter) -> None:
        self.connection, self.scope, self.asked, self.query, self.wanted = connection, scope, asked, query, wanted
        self.size = max(1, min(asked.first, MOST))
        self.is_wide = False
        self.behind = cursors.place(self.identity, asked.after) if asked.after else None

    @cached_property
    def identity(self) -> str:
        """What a cursor belongs to."""
        return f"{self.scope.tenant_id}{self.scope.owner_id}{self.asked.text}\n{self.asked.filter}"

    async def found(self) -> Found:
        besides = " ".join([*self.query.phrases, *self.query.excluded])
        text = self.query.words + " " * self.asked.text[-1:].isspace()  # after a space nobody is typing the last word
        reading = await read(self.connection, self.scope, text, besides)
        if reading is None:
            return Found()
        if self.behind:
            reading.pages, reading.mean_length = self.behind.pages, self.behind.mean_length
            reading.found |= self.behind.found
        required = demands.required(reading, self.wanted, self.query)
        asked = question(reading, text, required, self.wanted.title_only)
        values = self.values(reading, asked)
        rows = await (self.ranked(values, asked) if asked.weights or asked.keys else self.listed(values))
        found = Found(
            hits=tuple(self.hit(reading, asked, row) for row in rows[: self.size]),
            has_next_page=len(rows) > self.size,
            did_you_mean=reading.did_you_mean(self.query.words),
        )
        if self.asked.with_counts:
            found = await self.counted(found, values)
        if self.asked.with_snippets:
            found = replace(found, hits=await with_passages(self.connection, self.scope, reading, asked, found.hits))
        return found

    def values(self, reading: Reading, asked: Question) -> dict[str, Any]:
        """Of every statement of this question."""
        is_bounded = self.wanted.updated_after or self.wanted.updated_before
        return {
            "tenant_id": self.scope.tenant_id,
            "owner_id": self.scope.owner_id,
            "analyser": reading.analyser,
            "statuses": list(self.wanted.statuses),
            "since": (self.wanted.updated_after or EVER[0]) if is_bounded else None,
            "until": (self.wanted.updated_before or EVER[1]) if is_bounded else None,
            "pages": reading.pages,
            "length": reading.mean_length,
            "after_score": self.behind.score if self.behind else None,
            "after_page": self.behind.page_id if self.behind else None,
            "size": max(self.size, ENOUGH) + 1,
            **WEIGHTS,
            **asked.values(),
        }

    async def ranked(self, values: dict[str, Any], asked: Question) -> Sequence[Row]:
        """Where hardly a page has several of the common words that were asked, those that have one of them."""
        if not (self.behind and self.behind.is_wide):
            rows = await self.connection.all(RANKING["rank_pages"], **values)
            if self.behind or asked.wide is None or len(rows) >= ENOUGH:
                return rows
        self.is_wide = True
        values["rare"] = asked.wide
        return await self.connection.all(RANKING["rank_pages"], **values)

    async def listed(self, values: dict[str, Any]) -> Sequence[Row]:
        """Without words there is nothing to weigh: what was changed last comes first."""
        if values["required"] is not None:
            few = await self.connection.all(RANKING["list_few"], **values)
            if not any(row["are_many"] for row in few):
                return few
        return await self.connection.all(RANKING["list_many"], **values)

    def hit(self, reading: Reading, asked: Question, row: Row) -> Hit:
        return Hit(
            page_id=row["page_id"],
            score=row["score"],
            cursor=self.cursor(reading, row) if self.asked.with_cursors else "",
            matched_alias=row.get("matched_alias"),
            explanation=explanation(asked, row) if self.asked.explained else None,
        )

    def cursor(self, reading: Reading, row: Row) -> str:
        return cursors.cursor(self.identity, reading, row["score"], row["page_id"], is_wide=self.is_wide)

    async def counted(self, found: Found, values: dict[str, Any]) -> Found:
        row = await self.connection.one(RANKING["count_pages"], **values)
        assert row is not None
        return replace(
            found,
            total=row["total"],
            total_is_exact=row["total"] < COUNTED,
            types=tuple(map(tuple, row["types"])),
            tags=tuple(map(tuple, row["tags"])),
        )


def explanation(asked: Question, row: Row) -> dict[str, Any]:
    """What each part of the score was."""
    return {"parts": {part: row[part] for part in PARTS if part in row}, "terms": asked.terms}
