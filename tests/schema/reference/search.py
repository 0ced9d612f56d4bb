"""Reference resolvers of search results, and of names that begin with a prefix."""

from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from content.context_pack import tokens
from content.limits import NAME
from content.names import normalise
from content.search.snippets import Snippet, html
from content.search.words import words
from resolvers.context import Context
from resolvers.search.context_pack import ContextItem, ContextRequest
from resolvers.search.request import Filter, SearchHit, SearchRequest, SearchResult
from resolvers.search.search_all import KINDS as KINDS_SEARCHED
from resolvers.search.search_all import Hit, SearchAllRequest
from resolvers.search.source_search import SourceFilter, SourceSearchRequest
from tests.schema.reference.rows import Row, Rows
from tests.schema.reference.times import moment

MEANT = ["slug", "old_slug", "title", "alias"]
CANDIDATES = 200
KINDS = ["title", "alias", "slug", "old_slug"]


class Searches:
    """Calls the product's search for everything that it can find, whatever fields a document selects."""

    def __init__(self, rows: Rows, context: Context) -> None:
        self.rows, self.context = rows, context

    async def hits(self, named: UUID | None, text: str, size: int, given: Row | None) -> list[Row]:
        """Return the hits. `named` is the requested wiki, whether or not it may be read."""
        request = SearchRequest(text, size, None, narrowed(given or {}), named, with_snippets=True, with_counts=True)
        found = await self.context.search(request)
        memories = await self.context.matching_refs(request, [hit.page_id for hit in found.hits])
        return [{**hit, "matching_memory_ids": memories.get(hit["page"]["id"], [])} for hit in self.shown(found)]

    async def results(
        self, named: UUID | None, text: str, size: int, given: Row | None, after: Any, explain: bool
    ) -> Row:
        request = SearchRequest(text, size, after, narrowed(given or {}), named, True, True, explain)
        found = await self.context.search(request)
        held = [] if found.hits or after is not None else await self.context.find_held_names(request)
        edges = self.shown(found)
        return {
            "edges": edges,
            "nodes": [edge["node"] for edge in edges],
            "total_count": found.total,
            "total_is_exact": found.total_is_exact,
            "did_you_mean": found.did_you_mean,
            "held_names": list(map(asdict, held)),
            "facets": {"types": counted(found.types), "tags": counted(found.tags)},
            "page_info": {
                "has_next_page": found.has_next_page,
                "has_previous_page": after is not None,
                "start_cursor": found.hits[0].cursor if found.hits else None,
                "end_cursor": found.hits[-1].cursor if found.hits else None,
            },
        }

    async def everything(self, text: str, size: int, after: Any, given: Row) -> Row:
        kinds, spaces = given.get("in"), given.get("spaces")
        request = SearchAllRequest(
            text=text,
            kinds=KINDS_SEARCHED if kinds is None else tuple(kind.lower() for kind in kinds),
            spaces=spaces if spaces is None else tuple(spaces),
            first=size,
            after=after,
            filter=narrowed(given.get("filter") or {}),
            source_filter=narrowed_sources(given.get("source_filter") or {}),
            with_snippets=True,
        )
        found = await self.context.search_all(request)
        return {
            "hits": [self.either(hit, cursor) for hit, cursor in zip(found.hits, found.cursors, strict=True)],
            "spaces": [self.rows.one("owners", id=space.id) for space in found.spaces],
            "did_you_mean": found.did_you_mean,
            "page_info": {
                "has_next_page": found.has_next_page,
                "has_previous_page": after is not None,
                "start_cursor": found.cursors[0] if found.cursors else None,
                "end_cursor": found.cursors[-1] if found.cursors else None,
            },
        }

    def either(self, hit: Hit, cursor: str) -> Row:
        """Return the fields of a hit of a search over pages and passages: everything in it is in its space."""
        shown = {"cursor": cursor, "score": hit.score, "raw_score": hit.raw_score, "matched_alias": None}
        place = {
            "page": None,
            "passage": None,
            "section_id": None,
            "superseded_by": None,
            "owner": self.rows.one("owners", id=hit.space.id),
        }
        found = hit.found
        if isinstance(found, SearchHit):
            own = {"page": self.rows.page(found.page_id), "matched_alias": found.matched_alias}
            place |= own | {"section_id": found.section_id}
        else:
            passage = self.rows.one("search_passages", source_id=found.source_id, position=found.position)
            place["passage"], newer = passage, found.superseded_by
            if newer:
                place["superseded_by"] = self.rows.one("search_passages", source_id=newer[0], position=newer[1])
        return {**shown, **place, "snippet": found.snippet and snippet(found.snippet)}

    async def packed(self, query: str, given: Row) -> Row:
        spaces = given.get("spaces")
        request = ContextRequest(
            query, given.get("task"), given.get("role"), given["budget_tokens"], spaces and tuple(spaces)
        )
        if spaces == []:
            request = replace(request, spaces=())
        found = await self.context.context_pack(request)
        return {
            "text": found.text,
            "tokens": tokens(found.text),
            "budget_tokens": request.budget,
            "omitted": found.omitted,
            "did_you_mean": found.did_you_mean,
            "items": [self.packed_item(one) for one in found.items],
        }

    def packed_item(self, one: ContextItem) -> Row:
        packed, origin = one.packed, one.origin
        passage = origin.passage and self.rows.one(
            "search_passages", source_id=origin.passage.source_id, position=origin.passage.position
        )
        return {
            "kind": packed.piece.kind,
            "ref": packed.piece.place,
            "title": packed.piece.title,
            "text": packed.text,
            "is_cut": packed.is_cut,
            "date": packed.piece.date,
            "superseded": list(packed.superseded),
            "score": packed.piece.score,
            "tokens": tokens(packed.block),
            "owner": self.rows.one("owners", id=origin.owner_id),
            "page": self.rows.page(origin.page_id) if origin.page_id else None,
            "section_id": origin.section_id,
            "passage": passage,
        }

    async def passages(self, named: UUID | None, text: str, size: int, given: Row | None, after: Any) -> Row:
        filter = narrowed_sources(given or {})
        found = await self.context.search_sources(SourceSearchRequest(text, size, after, filter, named, True))
        edges = [
            {
                "node": node,
                "cursor": hit.cursor,
                "score": hit.score,
                "snippet": hit.snippet and snippet(hit.snippet),
                "superseded_by": hit.superseded_by
                and self.rows.one("search_passages", source_id=hit.superseded_by[0], position=hit.superseded_by[1]),
            }
            for hit in found.hits
            if (node := self.rows.one("search_passages", source_id=hit.source_id, position=hit.position))
            and self.rows.readable(node["owner_id"])
        ]
        return {
            "edges": edges,
            "nodes": [edge["node"] for edge in edges],
            "total_count": found.total,
            "total_is_exact": found.total_is_exact,
            "did_you_mean": found.did_you_mean,
            "page_info": {
                "has_next_page": found.has_next_page,
                "has_previous_page": after is not None,
                "start_cursor": found.hits[0].cursor if found.hits else None,
                "end_cursor": found.hits[-1].cursor if found.hits else None,
            },
        }

    def shown(self, found: SearchResult) -> list[Row]:
        hits = [hit_row(hit, self.rows.page(hit.page_id)) for hit in found.hits]
        return [hit for hit in hits if hit["page"] and self.rows.readable(hit["page"]["owner_id"])]

    async def related(self, page_id: UUID | None, size: int) -> list[Row]:
        found = await self.context.find_related(page_id, size) if page_id else []
        hits = [{"page": self.rows.page(id), "score": score} for id, score in found]
        return [hit for hit in hits if hit["page"]]

    async def at_hand(self, named: UUID | None, size: int) -> list[Row]:
        found = await self.context.hot_index(named, size)
        hits = [{"page": self.rows.page(id), "score": score} for id, score in found]
        return [hit for hit in hits if hit["page"] and self.rows.readable(hit["page"]["owner_id"])]

    def called(self, owner: UUID | None, name: str, type: str | None, include_archived: bool) -> list[Row]:
        """Return each page by the name with which a link would resolve to it."""
        wanted = {name[: NAME.maximum], normalise(name[: NAME.maximum])} - {""}
        best: dict[UUID, tuple[bool, int, UUID, str]] = {}
        for row in self.rows.where("page_names", owner_id=owner):
            page = self.rows.page(row["page_id"])
            if row["name"] not in wanted or not page or type not in (None, page["type"]):
                continue
            if include_archived or page["status"] == row["status"] == "active":
                kind = "slug" if page["slug"] == name[: NAME.maximum] else row["kind"]
                found = (page["status"] != "active", MEANT.index(kind), page["id"], kind)
                best[page["id"]] = min(best.get(page["id"], found), found)
        return [{"page_id": page_id, "kind": kind} for *_, page_id, kind in sorted(best.values())]

    def suggestions(self, owner: UUID | None, prefix: str) -> list[Row]:
        """Return each page by its best name: first names that begin so, then names with a later word that does."""
        start, is_whole = normalise(prefix[: NAME.maximum]), prefix[: NAME.maximum][-1:].isspace()
        names = [row for row in self.rows.where("page_names", owner_id=owner) if start]
        begun = [row for row in names if begins(row["name"], start, is_whole)]
        begun = sorted(begun, key=lambda row: (row["name"].encode(), row["page_id"]))[:CANDIDATES]
        begun = [{**row, "is_within": False} for row in begun if row["status"] == "active"]
        inside = []
        if len(start) >= 2 and words(start) and len({row["page_id"] for row in begun}) < 20:
            inner = f" {spaced(start)}{' ' * is_whole}"
            inside = [
                {**row, "is_within": not begins(row["name"], start, is_whole)}
                for row in names
                if row["status"] == "active" and inner in f" {spaced(row['name'])} "
            ]
        best: dict[UUID, Row] = {}
        for row in sorted([*begun, *inside], key=lambda row: (*rank(row, start), *length(row))):
            best.setdefault(row["page_id"], row)
        return sorted(best.values(), key=lambda row: (row["is_within"], *length(row), row["page_id"]))


def begins(name: str, start: str, is_whole: bool) -> bool:
    return name == start or name.startswith(f"{start} " if is_whole else start)


def spaced(name: str) -> str:
    return name.replace("'", " ").replace("-", " ")


def rank(row: Row, start: str) -> tuple[bool, bool, int]:
    return row["name"] != start, row["is_within"], KINDS.index(row["kind"])


def length(row: Row) -> tuple[int, bytes]:
    return len(row["name"]), row["name"].encode()


def narrowed(given: Row) -> Filter:
    def several(name: str) -> tuple[str, ...]:
        values = given.get(name) or ()
        return tuple(value.lower() if name in ("types", "excludedTypes", "statuses") else value for value in values)

    since, until = given.get("updatedAfter"), given.get("updatedBefore")
    return Filter(
        several("types"),
        several("excludedTypes"),
        several("tags"),
        several("excludedTags"),
        several("statuses"),
        since and moment(since),
        until and moment(until),
        given.get("titleOnly") or False,
        given.get("strict") or False,
    )


def narrowed_sources(given: Row) -> SourceFilter:
    since, until = given.get("capturedAfter"), given.get("capturedBefore")
    return SourceFilter(
        kinds=tuple(kind.lower() for kind in given.get("kinds") or ()),
        refs=tuple(given.get("refs") or ()),
        captured_after=since and moment(since),
        captured_before=until and moment(until),
    )


def hit_row(hit: SearchHit, page: Row | None) -> Row:
    return {
        "page": page,
        "node": page,
        "cursor": hit.cursor,
        "score": hit.score,
        "matched_alias": hit.matched_alias,
        "section_id": hit.section_id,
        "snippet": hit.snippet and snippet(hit.snippet),
        "explanation": hit.explanation and explanation(hit.explanation),
    }


def snippet(found: Snippet) -> Row:
    marks = [{"start": start, "length": length} for start, length in found.highlights]
    return {"text": found.text, "html": html(found), "highlights": marks}


def explanation(found: Row) -> Row:
    return {
        "parts": [{"name": name, "value": value} for name, value in found["parts"].items()],
        "terms": found["terms"],
    }


def counted(found: tuple[tuple[str, int], ...]) -> list[Row]:
    return [{"value": value, "count": count} for value, count in found]


class Hits:
    """A hit, an edge, or a related page."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def section(self, hit: Row) -> Row | None:
        return self.rows.one("sections", id=hit["section_id"], page_id=hit["page"]["id"]) if hit["page"] else None


class Suggestions:
    """A suggestion; its row is of page_names."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def name(self, row: Row) -> str:
        if row["kind"] == "title":
            return str(self.rows.where("pages", id=row["page_id"])[0]["title"])
        if row["kind"] == "alias":
            return str(self.rows.where("aliases", page_id=row["page_id"], alias=row["name"])[0]["name"])
        return str(row["name"]).replace(" ", "-")

    def page(self, row: Row) -> Row | None:
        return self.rows.page(row["page_id"])
