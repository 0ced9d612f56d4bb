"""The part of Cairn's contract that the benchmark requests, with a resolver for each field that is not a column."""

from enum import Enum
from typing import Any
from uuid import UUID

import asyncpg
import strawberry
from strawberry.extensions import ParserCache, ValidationCache

from . import writing
from .loaders import PAGE, Loaders, Row

Info = strawberry.Info[dict[str, Any], None]

BY_SLUG = f"""
    SELECT {PAGE} FROM pages AS p
    WHERE p.tenant_id = $1 AND p.owner_id = $2 AND p.type = $3 AND p.slug = $4 AND p.status = 'active'"""
LISTED = f"""
    SELECT {PAGE} FROM pages AS p
    WHERE p.tenant_id = $1 AND p.owner_id = $2 AND p.status = 'active' AND p.type = ANY($3)
    ORDER BY p.hubness_score DESC, p.id DESC LIMIT $4"""
FOUND = "SELECT page_id, score FROM peers.search($1, $2, $3) LIMIT $4"
NEAR = f"""
    SELECT {PAGE} FROM pages AS p
    WHERE p.tenant_id = $1 AND p.status = 'active' AND p.id IN (
        SELECT $2::uuid
        UNION SELECT to_page_id FROM links WHERE tenant_id = $1 AND from_page_id = $2
        UNION SELECT from_page_id FROM links WHERE tenant_id = $1 AND to_page_id = $2)
    ORDER BY p.id <> $2, p.hubness_score DESC, p.id DESC"""
EDGES = """
    SELECT from_page_id, to_page_id, max(kind) AS kind FROM links
    WHERE tenant_id = $1 AND from_page_id = ANY($2) AND to_page_id = ANY($2)
    GROUP BY from_page_id, to_page_id ORDER BY from_page_id, to_page_id LIMIT $3"""


@strawberry.enum
class WikiPageType(Enum):
    ENTITY = "entity"
    TOPIC = "topic"
    CONCEPT = "concept"
    DECISION = "decision"
    PROJECT = "project"


@strawberry.enum
class WikiPageOrder(Enum):
    HUBNESS = "hubness"


@strawberry.enum
class WikiLinkKind(Enum):
    REFERENCE = "reference"
    PARENT_OF = "parent_of"
    CHILD_OF = "child_of"


@strawberry.type
class WikiSection:
    section_slug: str
    heading: str
    body_md: str


@strawberry.type
class WikiLink:
    kind: WikiLinkKind
    to_page_id: strawberry.Private[UUID]

    @strawberry.field
    async def to_page(self, info: Info) -> "WikiPage":
        return page_of(await loaders(info).pages.load(self.to_page_id))


@strawberry.type
class WikiLinkConnection:
    nodes: list[WikiLink]


@strawberry.type
class WikiPageConnection:
    nodes: list["WikiPage"]


@strawberry.type
class WikiPage:
    id: strawberry.ID
    title: str
    slug: str
    summary: str | None
    hubness_score: int
    key: strawberry.Private[UUID]
    parent_id: strawberry.Private[UUID | None]

    @strawberry.field
    async def sections(self, info: Info) -> list[WikiSection]:
        rows = await loaders(info).sections.load(self.key)
        return [WikiSection(section_slug=row[1], heading=row[2], body_md=row[3]) for row in rows]

    @strawberry.field
    async def aliases(self, info: Info) -> list[str]:
        return [row["alias"] for row in await loaders(info).aliases.load(self.key)]

    @strawberry.field
    async def parent(self, info: Info) -> "WikiPage | None":
        row = await loaders(info).pages.load(self.parent_id) if self.parent_id else None
        return page_of(row) if row else None

    @strawberry.field
    async def children(self, info: Info, limit: int = 50) -> list["WikiPage"]:
        return [page_of(row) for row in (await loaders(info).children.load(self.key))[:limit]]

    @strawberry.field
    async def backlinks(self, info: Info, first: int = 20) -> WikiPageConnection:
        rows = await loaders(info).backlinks.load(self.key)
        return WikiPageConnection(nodes=[page_of(row) for row in rows[:first]])

    @strawberry.field
    async def links(self, info: Info, first: int = 20) -> WikiLinkConnection:
        rows = await loaders(info).links.load(self.key)
        found = [WikiLink(kind=WikiLinkKind(row["kind"]), to_page_id=row["to_page_id"]) for row in rows[:first]]
        return WikiLinkConnection(nodes=found)


@strawberry.type
class WikiSearchHit:
    score: float
    key: strawberry.Private[UUID]

    @strawberry.field
    async def page(self, info: Info) -> WikiPage:
        return page_of(await loaders(info).pages.load(self.key))


@strawberry.type
class WikiGraphNode:
    id: strawberry.ID
    label: str
    slug: str
    key: strawberry.Private[UUID]

    @strawberry.field
    async def edge_count(self, info: Info) -> int:
        row = await loaders(info).edge_counts.load(self.key)
        return row["count"] if row else 0


@strawberry.type
class WikiGraphEdge:
    source: strawberry.ID
    target: strawberry.ID
    kind: WikiLinkKind


@strawberry.type
class WikiNeighbourhood:
    page: WikiPage
    near: strawberry.Private[list[Row]]

    @strawberry.field
    def nodes(self, limit: int = 50) -> list[WikiGraphNode]:
        return [
            WikiGraphNode(id=row["id"], label=row["title"], slug=row["slug"], key=row["id"])
            for row in self.near[:limit]
        ]

    @strawberry.field
    async def edges(self, info: Info, limit: int = 200) -> list[WikiGraphEdge]:
        rows = await fetch(info, EDGES, tenant(info), [row["id"] for row in self.near], limit)
        return [WikiGraphEdge(source=row[0], target=row[1], kind=WikiLinkKind(row[2])) for row in rows]


@strawberry.input
class WikiPageFilter:
    types: list[WikiPageType] | None = None


@strawberry.type
class Query:
    @strawberry.field
    async def wiki_page(self, info: Info, tenant_id: strawberry.ID, type: WikiPageType, slug: str) -> WikiPage | None:
        rows = await fetch(info, BY_SLUG, tenant(info), owner(info), type.value, slug)
        return page_of(rows[0]) if rows else None

    @strawberry.field
    async def wiki_search(
        self, info: Info, tenant_id: strawberry.ID, query: str, limit: int = 20
    ) -> list[WikiSearchHit]:
        rows = await fetch(info, FOUND, tenant(info), owner(info), query, limit)
        return [WikiSearchHit(score=row["score"], key=row["page_id"]) for row in rows]

    @strawberry.field
    async def wiki_pages(
        self, info: Info, order_by: WikiPageOrder, filter: WikiPageFilter, first: int = 20
    ) -> WikiPageConnection:
        types = [type_.value for type_ in filter.types or WikiPageType]
        rows = await fetch(info, LISTED, tenant(info), owner(info), types, first)
        return WikiPageConnection(nodes=[page_of(row) for row in rows])

    @strawberry.field
    async def wiki_neighbourhood(self, info: Info, page_id: strawberry.ID) -> WikiNeighbourhood | None:
        rows = await fetch(info, NEAR, tenant(info), UUID(page_id))
        if not rows or str(rows[0]["id"]) != page_id:
            return None
        return WikiNeighbourhood(page=page_of(rows[0]), near=rows)


@strawberry.input
class LinkWikiPagesInput:
    from_page_id: strawberry.ID
    to_page_id: strawberry.ID


@strawberry.input
class UnlinkWikiPagesInput(LinkWikiPagesInput):
    pass


@strawberry.type
class WikiPagePayload:
    page: WikiPage | None


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def link_wiki_pages(self, info: Info, input: LinkWikiPagesInput) -> WikiPagePayload:
        return await relinked(info, input, writing.LINK, "link.added")

    @strawberry.mutation
    async def unlink_wiki_pages(self, info: Info, input: UnlinkWikiPagesInput) -> WikiPagePayload:
        return await relinked(info, input, writing.UNLINK, "link.removed")


async def relinked(info: Info, input: LinkWikiPagesInput, statement: str, action: str) -> WikiPagePayload:
    start, end = UUID(input.from_page_id), UUID(input.to_page_id)
    async with info.context["pool"].acquire() as connection:
        await writing.relink(connection, tenant(info), owner(info), start, end, statement, action)
    row = await loaders(info).pages.load(start)
    return WikiPagePayload(page=page_of(row) if row else None)


def page_of(row: Row) -> WikiPage:
    return WikiPage(
        id=row["id"], title=row["title"], slug=row["slug"], summary=row["summary"],
        hubness_score=row["hubness_score"], key=row["id"], parent_id=row["parent_page_id"],
    )  # fmt: skip


async def fetch(info: Info, sql: str, *arguments: Any) -> list[Row]:
    pool: asyncpg.Pool = info.context["pool"]
    async with pool.acquire() as connection:
        found: list[Row] = await connection.fetch(sql, *arguments)
        return found


def loaders(info: Info) -> Loaders:
    found: Loaders = info.context["loaders"]
    return found


def tenant(info: Info) -> UUID:
    found: UUID = info.context["tenant"]
    return found


def owner(info: Info) -> UUID:
    found: UUID = info.context["owner"]
    return found


schema = strawberry.Schema(Query, Mutation, extensions=[ParserCache, ValidationCache])
